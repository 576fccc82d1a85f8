/** Long lists: by page number, or by cursor where `after` is given. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HistoryEntry } from '#contracts/task-history';
import { cursorList, list, type Answer } from '#http/envelope';
import { cursorOfAnotherList, decodeCursor, encodeCursor } from '#http/cursor';
import { offsetOf } from '#http/parameters';
import { refuse } from '#http/validation';
import { toJsonObject } from './json-casts.js';
import { withoutSealed } from './secrets.js';
import type { DocumentPage, FieldFilter, PageQuery, ReadStore, ViewDefinition } from '#read-store/read-store';

const pageOfAll = 500;
const documentsATurn = 20;

interface ListQuery {
  readonly page: number;
  readonly limit: number;
  readonly after?: string | undefined;
}

/** `after` and `page` are two ways of saying where; both at once contradict each other. */
function checkOneWay({ page, after }: ListQuery): void {
  if (after !== undefined && page !== 1) {
    throw refuse(['page'], 'invalid', 'cannot be given beside after', 'page_and_after');
  }
}

interface Bounds {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Documents whose time lies between these bounds, both included. */
export function withinBounds(field: string, { from, to }: Bounds): FieldFilter[] {
  if (from !== undefined && to !== undefined && from > to) {
    throw refuse(['to'], 'invalid', 'must not be before from');
  }
  return [...(from === undefined ? [] : [{ field, from }]), ...(to === undefined ? [] : [{ field, to }])];
}

/**
 * A list's filters beside each value that a field can have where it stands before them in the index of the list: without these
 * the index would not be of use. `steps`: the index's fields in their order, with all their values.
 */
export function alongIndex(
  steps: readonly { readonly field: string; readonly values: readonly string[] }[],
  filters: readonly FieldFilter[],
): FieldFilter[] {
  const isAsked = (field: string): boolean => filters.some((filter) => 'field' in filter && filter.field === field);
  const last = steps.findLastIndex(({ field }) => isAsked(field));
  const missing = steps.slice(0, Math.max(last, 0)).filter(({ field }) => !isAsked(field));
  return [...missing.map(({ field, values }) => ({ field, oneOf: values })), ...filters];
}

/** Documents behind a page of several views are read to be merged: so many at most. */
const mostMerged = 5_000;

type Part = Pick<PageQuery, 'where' | 'sort' | 'limit' | 'offset' | 'count' | 'behind'>;

/** A page over all the views, in the order of `field`; the same as the store's where it is one. */
async function mergedPage<Document extends { readonly id: string }>(
  readStore: ReadStore,
  views: readonly ViewDefinition<Document>[],
  field: keyof Document & string,
  part: Part,
): Promise<DocumentPage<Document>> {
  const [first, ...others] = views;
  if (first !== undefined && others.length === 0) return readStore.page(first, part);
  const { offset, limit } = part;
  if (offset + limit > mostMerged) {
    throw refuse(['page'], 'too_large', `reaches more than ${mostMerged} entries back; go on with after`);
  }
  const pages = await Promise.all(
    views.map((view) => readStore.page(view, { ...part, offset: 0, limit: offset + limit })),
  );
  const keyOf = (document: Document): string => `${String(document[field])} ${document.id}`;
  const documents = pages
    .flatMap((page) => page.documents)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? 1 : -1))
    .slice(offset, offset + limit);
  const totals = pages.map(({ total }) => total);
  return {
    documents,
    total: totals.includes(null) ? null : totals.reduce<number>((sum, total) => sum + (total ?? 0), 0),
  };
}

/** One page of views with the same fields, newest first by `field`. */
export async function listOfViews<Document extends { readonly id: string }>(
  readStore: ReadStore,
  views: readonly ViewDefinition<Document>[],
  field: keyof Document & string,
  where: readonly FieldFilter[],
  query: ListQuery,
  show: (document: Document) => unknown,
): Promise<Answer> {
  checkOneWay(query);
  const sort = [{ field, descending: true }];
  if (query.after === undefined) {
    const part = { where, sort, limit: query.limit, offset: offsetOf(query), count: true };
    const { documents, total } = await mergedPage(readStore, views, field, part);
    return list(documents.map(show), query, total ?? 0);
  }
  const cursor = decodeCursor(query.after);
  const { documents } = await mergedPage(readStore, views, field, {
    where,
    sort,
    limit: query.limit + 1,
    offset: 0,
    count: false,
    ...(cursor === null ? {} : { behind: { values: [cursor.value], id: cursor.id } }),
  });
  const shown = documents.slice(0, query.limit);
  const last = documents.length > query.limit ? shown.at(-1) : undefined;
  return cursorList(shown.map(show), last === undefined ? null : cursorOf(last, field));
}

/** Every document of a list that starts with the oldest by `field`, read in pages. */
export async function* everyDocument<Document extends { readonly id: string }>(
  readStore: ReadStore,
  view: ViewDefinition<Document>,
  field: keyof Document & string,
  where: readonly FieldFilter[],
): AsyncGenerator<Document> {
  let query: PageQuery = {
    where,
    sort: [{ field, descending: false }],
    limit: pageOfAll,
    offset: 0,
    count: false,
  };
  for (;;) {
    const { documents } = await readStore.page(view, query);
    for (const [index, document] of documents.entries()) {
      // A store in this process answers without a pause: everything else has its turn.
      if (index % documentsATurn === 0) await nextTurn();
      yield document;
    }
    const last = documents.at(-1);
    if (last === undefined || documents.length < pageOfAll) return;
    query = { ...query, behind: { values: [String(last[field])], id: last.id } };
  }
}

function cursorOf<Document extends { readonly id: string }>(document: Document, field: keyof Document): string {
  const value: unknown = document[field];
  return encodeCursor({ value: typeof value === 'number' ? value : String(value), id: document.id });
}

/** A part of a history: below a revision (null: of all), after so many. */
export interface HistoryPart {
  readonly before: number | null;
  readonly offset: number;
  readonly limit: number;
}

/** One page of a history that is read by revision, newest first. */
export async function listByRevision(
  query: ListQuery,
  read: (part: HistoryPart) => Promise<{ readonly entries: readonly HistoryEntry[]; readonly total: number }>,
): Promise<Answer> {
  checkOneWay(query);
  const show = (entry: HistoryEntry): unknown => withoutSealed(toJsonObject(entry));
  if (query.after === undefined) {
    const { entries, total } = await read({ before: null, offset: offsetOf(query), limit: query.limit });
    return list(entries.map(show), query, total);
  }
  const cursor = decodeCursor(query.after);
  const before = cursor === null ? null : Number(cursor.value);
  if (before !== null && !(Number.isSafeInteger(before) && before >= 0)) throw cursorOfAnotherList();
  const { entries } = await read({ before, offset: 0, limit: query.limit });
  const last = entries.at(-1);
  const isEnd = last === undefined || last.revision === 0;
  return cursorList(
    entries.map(show),
    isEnd ? null : encodeCursor({ value: last.revision, id: String(last.revision) }),
  );
}
