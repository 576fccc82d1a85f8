/** Field values by which lists filter and sort, extracted so that an engine can index them apart from the document's text. */
import type { Json, JsonObject } from '#runtime/json';
import type { AnyView } from './read-store.js';

/** The indexed form of a field's value: missing is null, true is 1. */
export type IndexedValue = string | number | null | readonly (string | number | null)[];

/** Names come from view definitions in the code, never from users; checked all the same. */
export function partOfName(name: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_.]{0,90}$/.test(name)) throw new Error(`not a name of a view or field: ${name}`);
  return name.replaceAll('.', '__');
}

/** Parsed paths; bounded by the fields that the code names. */
const steps = new Map<string, readonly string[]>();

function stepsTo(field: string): readonly string[] {
  const known = steps.get(field);
  if (known !== undefined) return known;
  const path = field.split('.');
  steps.set(field, path);
  return path;
}

function valueAt(document: object, field: string): Json | undefined {
  let value: Json | undefined = document as JsonObject;
  for (const part of stepsTo(field)) {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, part) ? (value as JsonObject)[part] : undefined;
  }
  return value;
}

function simple(value: Json | undefined): string | number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

/** The values of the view's fields, in the order in which it names them. */
export function indexedValues(view: AnyView, document: object): IndexedValue[] {
  return view.fields.map((field) => {
    const value = valueAt(document, field);
    return Array.isArray(value) ? value.map(simple) : simple(value);
  });
}

export type PlainValue = string | number | null;

/** The same for an engine without list values: lists as JSON text. */
export function plainValues(view: AnyView, document: object): PlainValue[] {
  return indexedValues(view, document).map((value) =>
    value !== null && typeof value === 'object' ? JSON.stringify(value) : value,
  );
}

/** A filter's value in its indexed form. */
export function toIndexed(value: string | number | boolean | null): string | number | null {
  // Values from requests reach an engine as plain values only: an object could act as an operator.
  if (value !== null && typeof value === 'object') throw new TypeError('a filter compares with a plain value');
  return typeof value === 'boolean' ? Number(value) : value;
}
