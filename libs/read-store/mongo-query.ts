/** Filters, sorts and indexes of views in MongoDB's words. Pure. */
import type { FieldFilter, PageQuery, ViewDefinition, AnyView } from './read-store.js';
import { partOfName, toIndexed, indexedValues, type IndexedValue } from './indexed-fields.js';

type Plain = string | number | null;
export type Condition =
  | Plain
  | boolean
  | { readonly [operator: string]: readonly Plain[] | Condition }
  | readonly { readonly [field: string]: Condition }[];
export interface Filter {
  readonly [field: string]: Condition;
}
export type Direction = 1 | -1;
export type Sort = Readonly<Record<string, Direction>>;

/** The searched fields stand apart from the document's text, under names that hold no dots. */
const keyOf = (field: string): string => `f.${partOfName(field)}`;

/** Documents that are there. Only they have it, so that removed ones and the view's own record are in no list's index range. */
const live = { live: true } as const;

export function toFields(view: ViewDefinition<never> | AnyView, document: object): Record<string, IndexedValue> {
  const values = indexedValues(view, document);
  return Object.fromEntries(view.fields.map((field, index) => [partOfName(field), values[index] ?? null]));
}

/** In the order of the keys: equality first, the field that sorts behind it, the id last. */
export function toIndexKeys(view: AnyView): Readonly<Record<string, Direction>>[] {
  return view.indexes.map((fields) =>
    Object.fromEntries([['live', 1], ...fields.map((field) => [keyOf(field), 1]), ['_id', 1]] as [string, Direction][]),
  );
}

/**
 * Text as a pattern that finds it whatever the case of its ASCII letters, as SQLite does. The option `i` would fold all of
 * Unicode. Whatever is no letter or digit is written as its number, so nothing in it is read as part of a pattern.
 */
function patternOf(text: string): string {
  return Array.from(text, (character) => {
    if (/[a-z]/i.test(character)) return `[${character.toLowerCase()}${character.toUpperCase()}]`;
    if (/[0-9]/.test(character) || character > '\x7f') return character;
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  }).join('');
}

/** The key and its condition. */
function toCondition(filter: FieldFilter): readonly [string, Condition] {
  if ('contains' in filter) {
    const found = { $regex: patternOf(filter.contains) };
    const [only, ...others] = filter.fields;
    if (only === undefined) return ['_id', { $in: [] }];
    if (others.length === 0) return [keyOf(only), found];
    return ['$or', filter.fields.map((field) => ({ [keyOf(field)]: found }))];
  }
  const key = keyOf(filter.field);
  if ('equals' in filter) return [key, toIndexed(filter.equals)];
  if ('oneOf' in filter) return [key, { $in: filter.oneOf.map(toIndexed) }];
  // MongoDB compares a list by what it holds.
  if ('has' in filter) return [key, toIndexed(filter.has)];
  const bounds: Record<string, Plain> = {};
  if (filter.from !== undefined) bounds['$gte'] = toIndexed(filter.from);
  if (filter.to !== undefined) bounds['$lte'] = toIndexed(filter.to);
  return [key, bounds];
}

type Operators = Readonly<Record<string, Plain | readonly Plain[]>>;

const isOperators = (condition: Condition | undefined): condition is Operators =>
  typeof condition === 'object' && condition !== null && !Array.isArray(condition);

/** Conditions of the same key become one where they are different bounds of it; else they stand side by side in `$and`. */
function combine(conditions: readonly (readonly [string, Condition])[]): Filter {
  const filter: Record<string, Condition> = { ...live };
  const more: Filter[] = [];
  for (const [key, condition] of conditions) {
    const known = filter[key];
    if (known === undefined) filter[key] = condition;
    else if (isOperators(known) && isOperators(condition) && !Object.keys(known).some((name) => name in condition)) {
      filter[key] = { ...known, ...condition };
    } else more.push({ [key]: condition });
  }
  return more.length === 0 ? filter : { ...filter, $and: more };
}

/** All that match, wherever the cursor stands. */
export function toFilter(where: readonly FieldFilter[]): Filter {
  return combine(where.filter((filter) => !isOpen(filter)).map(toCondition));
}

/** A range without bounds says nothing. */
const isOpen = (filter: FieldFilter): boolean =>
  !('contains' in filter || 'equals' in filter || 'oneOf' in filter || 'has' in filter) &&
  filter.from === undefined &&
  filter.to === undefined;

export function toSort(sort: PageQuery['sort']): Sort {
  const direction = (descending: boolean): Direction => (descending ? -1 : 1);
  const last = sort.at(-1)?.descending ?? false;
  return {
    ...Object.fromEntries(sort.map(({ field, descending }) => [keyOf(field), direction(descending)])),
    _id: direction(last),
  };
}

/**
 * What lies behind a cursor, as ranges that follow one another: first those that differ from its document in the id alone,
 * then those that differ in the last field, and so on. Each is one range of an index, which a single `$or` need not be.
 */
export function toRanges({ where, sort, behind }: PageQuery): readonly Filter[] {
  if (behind === undefined) return [toFilter(where)];
  const conditions = where.filter((filter) => !isOpen(filter)).map(toCondition);
  const keys = [...sort.map(({ field }) => keyOf(field)), '_id'];
  const descending = [...sort.map((one) => one.descending), sort.at(-1)?.descending ?? false];
  const values = [...behind.values, behind.id].map(toIndexed);
  return keys.map((_, range) => {
    const differs = keys.length - 1 - range;
    const bounds = keys.slice(0, differs + 1).map((key, index): readonly [string, Condition] => {
      const value = values[index] ?? null;
      return [key, index < differs ? value : { [descending[index] === true ? '$lt' : '$gt']: value }];
    });
    return combine([...conditions, ...bounds]);
  });
}
