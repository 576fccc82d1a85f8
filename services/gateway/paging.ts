/** Long lists: by page number, or by cursor where `after` is given. */
import { cursorList, list, type Answer } from '#http/envelope';
import { decodeCursor, encodeCursor } from '#http/cursor';
import { offsetOf } from '#http/parameters';
import { refuse } from '#http/validation';
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

function cursorOf<Document extends { readonly id: string }>(document: Document, field: keyof Document): string {
  const value: unknown = document[field];
  return encodeCursor({ value: typeof value === 'number' ? value : String(value), id: document.id });
}

/** One page of items that are all there, newest first already. */
export function listInMemory<Item extends { readonly sort: number; readonly id: string }>(
  items: readonly Item[],
  query: ListQuery,
  show: (item: Item) => unknown,
): Answer {
  checkOneWay(query);
  if (query.after === undefined) {
    const offset = offsetOf(query);
    return list(items.slice(offset, offset + query.limit).map(show), query, items.length);
  }
  const cursor = decodeCursor(query.after);
  const behind = cursor === null ? items : items.filter(({ sort }) => sort < Number(cursor.value));
  const shown = behind.slice(0, query.limit);
  const last = behind.length > query.limit ? shown.at(-1) : undefined;
  return cursorList(shown.map(show), last === undefined ? null : encodeCursor({ value: last.sort, id: last.id }));
}
