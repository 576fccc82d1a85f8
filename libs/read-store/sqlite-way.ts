/** The way to the rows of a page where filters narrow a list: SQLite, which counts nothing here, would take one at random. */
import type { AnyView, FieldFilter, PageQuery } from './read-store.js';

export interface Way {
  /** Filters by these fields are compared with each row, and looked up for none. */
  readonly compared: readonly string[];
  /** All rows are found first and sorted then; false: they are walked in order, as far as the page. */
  readonly isSorted: boolean;
  /** What a list holds is compared with each row too, instead of the rows of its value being gone through. */
  readonly isOfTable?: true;
}

export const anyWay: Way = { compared: [], isSorted: false };

export type HeldFilter = Extract<FieldFilter, { has: string }>;

/** By a value whose rows are kept. */
export const isHeld =
  ({ lists = [] }: AnyView) =>
  (filter: FieldFilter): filter is HeldFilter =>
    'has' in filter && lists.includes(filter.field);

type PlainFilter = Extract<FieldFilter, { equals: unknown } | { oneOf: unknown }>;

/** By values as they are: an index has all documents with one of them together. */
export const isPlain = (filter: FieldFilter): filter is PlainFilter => 'equals' in filter || 'oneOf' in filter;

export const isRange = (filter: FieldFilter): filter is Extract<FieldFilter, { from?: unknown }> =>
  !('contains' in filter || 'has' in filter) && !isPlain(filter);

/** How many documents it is true of is kept. */
export const isKept =
  ({ totals = [] }: AnyView) =>
  (filter: FieldFilter): filter is PlainFilter =>
    isPlain(filter) && totals.includes(filter.field);

/** By a field of which nothing is counted though it has an index: few documents have the same, it is there to find them. */
export const isFoundByKey =
  ({ totals = [], indexes }: AnyView) =>
  (filter: FieldFilter): boolean =>
    'equals' in filter && !totals.includes(filter.field) && indexes.some((index) => index.indexOf(filter.field) === 1);

const hasIndex = ({ indexes }: AnyView, ...fields: readonly string[]): boolean =>
  indexes.some((index) => fields.every((field, at) => index[at] === field));

/** Indexes that begin with these fields, in whatever order: they have what passes filters by all of them in few places. */
const indexesOfAll = ({ indexes }: AnyView, fields: readonly string[]): AnyView['indexes'] =>
  indexes.filter((index) => fields.every((field) => index.slice(0, fields.length).includes(field)));

/** Filters that one index serves together, and what bounds the field of the order. */
interface Together {
  readonly owner: PlainFilter;
  readonly all: readonly PlainFilter[];
  readonly range: readonly FieldFilter[];
  /** The index goes on with the order. */
  readonly isInOrder: boolean;
}

/** null: no index serves all of them. */
function togetherIn(view: AnyView, where: readonly FieldFilter[], order: string): Together | null {
  const all = where.filter(isKept(view));
  const range = where.filter((filter) => !all.some((one) => one === filter));
  const fields = all.map(({ field }) => field);
  const [owner] = all;
  if (owner === undefined || all.length === 1 || new Set(fields).size < fields.length) return null;
  if (!hasIndex(view, owner.field, order)) return null;
  if (!range.every((filter) => 'field' in filter && filter.field === order)) return null;
  const indexes = indexesOfAll(view, fields);
  if (indexes.length === 0) return null;
  return { owner, all, range, isInOrder: indexes.some((index) => index[fields.length] === order) };
}

/** Where an index serves all filters together, beside a range of the order; null: none does. */
function wayByAll(
  view: AnyView,
  where: readonly FieldFilter[],
  order: string,
  { wanted, total }: Stretch,
  keptTotal: KeptTotal,
): Way | null {
  const together = togetherIn(view, where, order);
  if (together === null) return null;
  const { owner, all, isInOrder } = together;
  if (isInOrder && all.every((filter) => 'equals' in filter)) return anyWay;
  const rows = keptTotal(all);
  const walked = (keptTotal([owner]) * wanted) / rows;
  return Math.min(rows, total ?? rows) <= walked
    ? { compared: [], isSorted: true }
    : { compared: all.filter((filter) => filter !== owner).map(({ field }) => field), isSorted: false };
}

/** Where a list has to hold a value: along the rows of the value, or by the filter that fewest documents pass. */
function wayByValue(
  view: AnyView,
  where: readonly FieldFilter[],
  held: HeldFilter,
  order: string,
  { wanted, total }: Stretch,
  keptTotal: KeptTotal,
): Way {
  const kept = where.filter(isKept(view));
  const owner = kept.find(({ field }) => hasIndex(view, field, held.field, order));
  if (owner === undefined || where.some(isFoundByKey(view))) return anyWay;
  const narrowing = kept.filter((filter) => filter !== owner);
  const passing = total ?? keptTotal([held, ...kept]);
  const without = (one?: PlainFilter): readonly string[] =>
    narrowing.filter((filter) => filter !== one).map(({ field }) => field);
  const ofTable = narrowing
    .filter(({ field }) => hasIndex(view, owner.field, field))
    .map((one) => ({
      rows: keptTotal([owner, one]),
      way: { compared: without(one), isSorted: true, isOfTable: true } as const,
    }));
  const ofValue = narrowing
    .filter(({ field }) => hasIndex(view, owner.field, held.field, field))
    .map((one) => {
      const rows = keptTotal([held, owner, one]);
      const isInOrder = hasIndex(view, owner.field, held.field, one.field, order);
      return {
        rows: isInOrder ? (rows * wanted) / passing : rows,
        way: { compared: without(one), isSorted: !isInOrder },
      };
    });
  const walked = {
    rows: (keptTotal([held, owner]) * wanted) / passing,
    way: { compared: without(), isSorted: false },
  };
  const ways: readonly { readonly rows: number; readonly way: Way }[] = [...ofTable, ...ofValue, walked];
  return ways.reduce((best, one) => (one.rows < best.rows ? one : best), walked).way;
}

/**
 * The field of the order, where more documents lie within its bounds than pass the other filters: the bounds are compared then
 * with what these find. `areMore`: of the owner within these bounds there are more documents than so many.
 */
export function comparedBounds(
  view: AnyView,
  { where, sort: [order] }: PageQuery,
  keptTotal: KeptTotal,
  areMore: (where: readonly FieldFilter[], than: number) => boolean,
): readonly string[] {
  const together = order === undefined ? null : togetherIn(view, where, order.field);
  if (order === undefined || together === null || together.isInOrder || together.range.length === 0) return [];
  const { owner, all, range } = together;
  return areMore([owner, ...range], keptTotal(all)) ? [order.field] : [];
}

type KeptTotal = (where: readonly FieldFilter[]) => number;

interface Stretch {
  /** Rows up to the end of the page. */
  readonly wanted: number;
  /** Of all rows; null: nobody has counted, or the list is gone on with behind some of them. */
  readonly total: number | null;
}

/**
 * By the filter that fewest documents pass, or along the list until the page is full, whichever is shorter. `keptTotal`: of
 * documents that pass these filters.
 */
export function shortestWay(
  view: AnyView,
  { where, sort: [order, ...others] }: PageQuery,
  { wanted, total }: Stretch,
  keptTotal: KeptTotal,
): Way {
  if (order === undefined || others.length > 0) return anyWay;
  const held = where.find(isHeld(view));
  if (held !== undefined) return wayByValue(view, where, held, order.field, { wanted, total }, keptTotal);
  const byAll = wayByAll(view, where, order.field, { wanted, total }, keptTotal);
  if (byAll !== null || total === null) return byAll ?? anyWay;
  const kept = where.filter(isKept(view));
  const owner = kept.find(({ field }) => hasIndex(view, field, order.field));
  if (owner === undefined) return anyWay;
  const narrowing = kept.filter((filter) => filter !== owner && hasIndex(view, owner.field, filter.field));
  const isFound = where.some(isFoundByKey(view));
  if (isFound) return { compared: narrowing.map(({ field }) => field), isSorted: false };
  const [rarest, ...rest] = narrowing
    .map((filter) => ({ field: filter.field, rows: keptTotal([owner, filter]) }))
    .toSorted((one, other) => one.rows - other.rows);
  if (rarest === undefined) return anyWay;
  const compared = rest.map(({ field }) => field);
  if (hasIndex(view, owner.field, rarest.field, order.field)) return { compared, isSorted: false };
  const walked = (keptTotal([owner]) * wanted) / total;
  return rarest.rows <= walked
    ? { compared, isSorted: true }
    : { compared: [rarest.field, ...compared], isSorted: false };
}
