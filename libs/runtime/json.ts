/** What JSON can hold: the type of everything that crosses a process border. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A value of ours that is JSON but for members that may be `undefined`, which JSON leaves out. */
export function asJson(value: object): Json {
  return value as Json;
}

/** Neither a list nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two values are the same JSON. Members that are `undefined` do not count; the order of members does. */
export function jsonEquals(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
