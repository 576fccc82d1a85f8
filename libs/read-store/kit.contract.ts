/** What the read-store suites share: a view of things, three of them, and a way to ask. */
import type { PageQuery, ReadStore, ViewDefinition, ViewAdmin } from './read-store.js';

export interface ReadStoreUnderTest {
  readonly store: ReadStore & ViewAdmin;
  /** Another store on the same data, as in a second process; where there can be none, the same one again. */
  second(): Promise<ReadStore & ViewAdmin>;
  /** Closes it and opens another on the same data, as after a restart. */
  reopen(): Promise<ReadStore & ViewAdmin>;
  destroy(): Promise<void>;
}

export const view: ViewDefinition = {
  name: 'things',
  fields: ['owner', 'name', 'tags', 'count', 'inner.done'],
  indexes: [
    ['owner', 'name'],
    ['owner', 'tags', 'name'],
  ],
  lists: ['tags'],
  totals: ['owner'],
  searched: ['name', 'owner'],
};

export const query = (more: Partial<PageQuery> = {}): PageQuery => ({
  where: [],
  sort: [{ field: 'name', descending: false }],
  limit: 100,
  offset: 0,
  count: true,
  ...more,
});

export const fillThings = (store: ReadStore): Promise<void> =>
  store.save(
    view,
    [
      {
        id: '1',
        revision: 1,
        document: { name: 'ada', owner: 'x', tags: ['red', 'blue'], count: 3, inner: { done: true } },
      },
      {
        id: '2',
        revision: 2,
        document: { name: 'Bob_100%', owner: 'x', tags: [], count: 1, inner: { done: false } },
      },
      {
        id: '3',
        revision: 3,
        document: { name: 'eve', owner: 'y', tags: ['red'], count: 2, inner: { done: null } },
      },
    ],
    3,
  );

export async function namesIn(store: ReadStore, more: Partial<PageQuery>): Promise<unknown[]> {
  return (await store.page(view, query(more))).documents.map((document) => document['name']);
}
