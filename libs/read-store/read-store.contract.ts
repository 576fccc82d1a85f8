/** What every read store must do, whatever engine it stands on. An adapter's spec calls this with a way to make one. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PageQuery, ReadStore, ViewDefinition, ViewKeeper } from './read-store.js';

export interface ReadStoreUnderTest {
  readonly store: ReadStore & ViewKeeper;
  /** Closes it and opens another on the same data, as after a restart. */
  reopen(): Promise<ReadStore & ViewKeeper>;
  destroy(): Promise<void>;
}

const view: ViewDefinition = {
  name: 'things',
  fields: ['owner', 'name', 'tags', 'count', 'inner.done'],
  indexes: [['owner', 'name']],
};

const query = (more: Partial<PageQuery> = {}): PageQuery => ({
  where: [],
  sort: [{ field: 'name', descending: false }],
  limit: 100,
  offset: 0,
  count: true,
  ...more,
});

export function readStoreContract(name: string, create: () => Promise<ReadStoreUnderTest>): void {
  describe(`read store on ${name}`, () => {
    let test: ReadStoreUnderTest;
    let store: ReadStore & ViewKeeper;
    beforeEach(async () => {
      test = await create();
      store = test.store;
    });
    afterEach(() => test.destroy());

    const names = async (more: Partial<PageQuery>): Promise<unknown[]> =>
      (await store.page(view, query(more))).documents.map((document) => document['name']);

    const fill = (): Promise<void> =>
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

    it('gives back a document to the byte', async () => {
      const document = { name: 'é\u0000"', list: [1, null, { deep: true }], empty: {} };
      await store.save(view, [{ id: '1', revision: 1, document }], 1);
      expect(JSON.stringify(await store.get(view, '1'))).toBe(JSON.stringify(document));
      expect(await store.get(view, '2')).toBeNull();
    });

    it('ignores a write at or below the revision it holds', async () => {
      await store.save(view, [{ id: '1', revision: 5, document: { name: 'new' } }], 5);
      await store.save(view, [{ id: '1', revision: 5, document: { name: 'same' } }], null);
      await store.save(view, [{ id: '1', revision: 4, document: { name: 'old' } }], null);
      await store.save(view, [{ id: '1', revision: 4, document: null }], null);
      expect(await store.get(view, '1')).toEqual({ name: 'new' });
    });

    it('removes a document', async () => {
      await store.save(view, [{ id: '1', revision: 1, document: { name: 'a' } }], 1);
      await store.save(view, [{ id: '1', revision: 2, document: null }], 2);
      expect(await store.get(view, '1')).toBeNull();
      expect((await store.page(view, query())).total).toBe(0);
    });

    it('keeps documents and checkpoint over a restart, and the checkpoint never falls back', async () => {
      expect(await store.checkpoint(view)).toBeNull();
      await fill();
      await store.save(view, [], 2);
      const reopened = await test.reopen();
      expect(await reopened.checkpoint(view)).toBe(3);
      expect(await reopened.get(view, '3')).toMatchObject({ name: 'eve' });
    });

    it('filters by value, by one of several, by what a list holds, by range and by text', async () => {
      await fill();
      expect(await names({ where: [{ field: 'owner', equals: 'x' }] })).toEqual(['Bob_100%', 'ada']);
      expect(await names({ where: [{ field: 'count', oneOf: [1, 2] }] })).toEqual(['Bob_100%', 'eve']);
      expect(await names({ where: [{ field: 'tags', has: 'red' }] })).toEqual(['ada', 'eve']);
      expect(await names({ where: [{ field: 'count', from: 2 }] })).toEqual(['ada', 'eve']);
      expect(await names({ where: [{ field: 'count', from: 2, to: 2 }] })).toEqual(['eve']);
      expect(await names({ where: [{ field: 'inner.done', equals: true }] })).toEqual(['ada']);
      expect(await names({ where: [{ field: 'inner.done', equals: null }] })).toEqual(['eve']);
      expect(await names({ where: [{ fields: ['name', 'owner'], contains: 'bOB_100%' }] })).toEqual(['Bob_100%']);
      expect(await names({ where: [{ fields: ['name'], contains: '_' }] })).toEqual(['Bob_100%']);
      expect(await names({ where: [{ field: 'owner', equals: "x' OR '1'='1" }] })).toEqual([]);
    });

    it('sorts in both directions with the id as tie-break', async () => {
      await fill();
      expect(await names({ sort: [{ field: 'owner', descending: true }] })).toEqual(['eve', 'Bob_100%', 'ada']);
      expect(await names({ sort: [{ field: 'owner', descending: false }] })).toEqual(['ada', 'Bob_100%', 'eve']);
    });

    it('pages by offset with the true total, and past the end with nothing', async () => {
      await fill();
      expect(await store.page(view, query({ limit: 2, offset: 2 }))).toMatchObject({
        documents: [{ name: 'eve' }],
        total: 3,
      });
      expect(await store.page(view, query({ offset: 10 }))).toEqual({ documents: [], total: 3 });
      expect((await store.page(view, query({ count: false }))).total).toBeNull();
    });

    it('loads documents with their revisions, by id', async () => {
      await fill();
      const stored = await store.load(view, ['1', '3', 'nobody']);
      expect([...stored.keys()].toSorted()).toEqual(['1', '3']);
      expect(stored.get('3')).toEqual({
        id: '3',
        revision: 3,
        document: { name: 'eve', owner: 'y', tags: ['red'], count: 2, inner: { done: null } },
      });
      expect(await store.load(view, [])).toEqual(new Map());
    });

    it('goes on behind a cursor', async () => {
      await fill();
      const sort = [{ field: 'owner', descending: true }];
      expect(await names({ sort, behind: { values: ['y'], id: '3' } })).toEqual(['Bob_100%', 'ada']);
      expect(await names({ sort, behind: { values: ['x'], id: '2' } })).toEqual(['ada']);
      expect(await names({ sort, behind: { values: ['x'], id: '1' } })).toEqual([]);
    });

    it('keeps a view that nobody searches, and a checkpoint without documents', async () => {
      const plain: ViewDefinition = { name: 'plain', fields: [], indexes: [] };
      await store.save(plain, [], 7);
      expect(await store.checkpoint(plain)).toBe(7);
      await store.save(plain, [{ id: 'a', revision: 1, document: { id: 'a', revision: 9 } }], null);
      expect(await store.get(plain, 'a')).toEqual({ id: 'a', revision: 9 });
    });

    it('drops documents and checkpoint on reset', async () => {
      await fill();
      await store.reset(view);
      expect(await store.checkpoint(view)).toBeNull();
      expect(await store.page(view, query())).toEqual({ documents: [], total: 0 });
    });
  });
}
