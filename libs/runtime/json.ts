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

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && typeof (value as { toJSON?: unknown }).toJSON !== 'function';

/**
 * The member of a table that is its own. Names that people choose are also those of what every object inherits, such as
 * `constructor`.
 */
export function ownMember<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/**
 * Whether two values are the same JSON. Members that are `undefined` do not count; the order of members does. Texts of settings
 * are long: nothing is written to be compared.
 */
export function jsonEquals(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isPlain(one) || !isPlain(other)) {
    if (typeof one === 'string' && typeof other === 'string') return false;
    return JSON.stringify(one) === JSON.stringify(other);
  }
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    // In a list, what is undefined is null.
    return one.every((item: unknown, at) => jsonEquals(item ?? null, other[at] ?? null));
  }
  const [ones, others] = [one, other].map((value) =>
    Object.entries(value).filter(([, member]) => member !== undefined),
  );
  if (ones === undefined || others === undefined || ones.length !== others.length) return false;
  return ones.every(([name, member], at) => name === others[at]?.[0] && jsonEquals(member, others[at][1]));
}
