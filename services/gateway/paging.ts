/** Long lists: by page number, or by cursor where `after` is given. */
import type { HistoryEntry } from '#contracts/task';
import { cursorList, list, type Answer } from '#http/envelope';
import { cursorOfAnotherList, decodeCursor, encodeCursor } from '#http/cursor';
import { offsetOf } from '#http/parameters';
import { refuse } from '#http/validation';
import { toJsonObject } from './json-casts.js';
import { withoutSealed } from './secrets.js';
import type { FieldFilter, ReadStore, ViewDefinition } from '#read-store/read-store';

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

/** One page of a view, newest first by `field`. */
export async function listOfView<Document extends { readonly id: string }>(
  readStore: ReadStore,
  view: ViewDefinition<Document>,
  field: keyof Document & string,
  where: readonly FieldFilter[],
  query: ListQuery,
  show: (document: Document) => unknown,
): Promise<Answer> {
  checkOneWay(query);
  const sort = [{ field, descending: true }];
  if (query.after === undefined) {
    const options = { where, sort, limit: query.limit, offset: offsetOf(query), count: true };
    const { documents, total } = await readStore.page(view, options);
    return list(documents.map(show), query, total ?? 0);
  }
  const cursor = decodeCursor(query.after);
  const { documents } = await readStore.page(view, {
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

/** Documents behind a page of several views are read to be merged: so many at most. */
const mostMerged = 5_000;

/** The same of several views with the same fields, merged. */
export async function listOfViews<Document extends { readonly id: string }>(
  readStore: ReadStore,
  views: readonly ViewDefinition<Document>[],
  field: keyof Document & string,
  where: readonly FieldFilter[],
  query: ListQuery,
  show: (document: Document) => unknown,
): Promise<Answer> {
  checkOneWay(query);
  const offset = query.after === undefined ? offsetOf(query) : 0;
  const cursor = query.after === undefined ? null : decodeCursor(query.after);
  const count = query.after === undefined;
  if (offset + query.limit > mostMerged) {
    throw refuse(['page'], 'too_large', `reaches more than ${mostMerged} entries back; go on with after`);
  }
  const pages = await Promise.all(
    views.map((view) =>
      readStore.page(view, {
        where,
        sort: [{ field, descending: true }],
        limit: offset + query.limit + 1,
        offset: 0,
        count,
        ...(cursor === null ? {} : { behind: { values: [cursor.value], id: cursor.id } }),
      }),
    ),
  );
  const keyOf = (document: Document): string => `${String(document[field])} ${document.id}`;
  const merged = pages
    .flatMap(({ documents }) => documents)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? 1 : -1));
  const shown = merged.slice(offset, offset + query.limit);
  if (count) {
    const total = pages.reduce((sum, page) => sum + (page.total ?? 0), 0);
    return list(shown.map(show), query, total);
  }
  const last = merged.length > query.limit ? shown.at(-1) : undefined;
  return cursorList(shown.map(show), last === undefined ? null : cursorOf(last, field));
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
