/** The way to the rows of a page where filters narrow a list: SQLite, which counts nothing here, would take one at random. */
import type { AnyView, FieldFilter, PageQuery } from './read-store.js';

export interface Way {
  /** Filters by these fields are compared with each row, and looked up for none. */
  readonly compared: readonly string[];
  /** All rows are found first and sorted then; false: they are walked in order, as far as the page. */
  readonly isSorted: boolean;
}

export const anyWay: Way = { compared: [], isSorted: false };

type KeptFilter = Extract<FieldFilter, { equals: unknown }>;

/** How many documents it is true of is kept. */
export const isKept =
  ({ totals = [] }: AnyView) =>
  (filter: FieldFilter): filter is KeptFilter =>
    'equals' in filter && typeof filter.equals === 'string' && filter.equals !== '' && totals.includes(filter.field);

const hasIndex = ({ indexes }: AnyView, ...fields: readonly string[]): boolean =>
  indexes.some((index) => fields.every((field, at) => index[at] === field));

/**
 * By the filter that fewest documents pass, or along the list until the page is full, whichever is shorter. `wanted`: rows up to
 * the end of the page, of `total` in all. `keptTotal`: of documents that pass these filters.
 */
export function shortestWay(
  view: AnyView,
  { where, sort: [order, ...others] }: PageQuery,
  { wanted, total }: { readonly wanted: number; readonly total: number },
  keptTotal: (where: readonly FieldFilter[]) => number,
): Way {
  if (order === undefined || others.length > 0) return anyWay;
  const kept = where.filter(isKept(view));
  const owner = kept.find(({ field }) => hasIndex(view, field, order.field));
  if (owner === undefined) return anyWay;
  const narrowing = kept.filter((filter) => filter !== owner && hasIndex(view, owner.field, filter.field));
  // One of which nothing is counted has few documents: its index is there to find them.
  const isFound = where.some(
    (filter) => 'equals' in filter && !kept.some((one) => one === filter) && hasIndex(view, owner.field, filter.field),
  );
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
