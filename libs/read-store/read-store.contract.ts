/** What every read store must do, whatever engine it stands on. An adapter's spec calls this with a way to make one. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '#runtime/json';
import { fillThings, namesIn, query, view, type ReadStoreUnderTest } from './kit.contract.js';
import { listContract } from './lists.contract.js';
import type { ReadStore, ViewDefinition, ViewAdmin } from './read-store.js';
import { writerContract } from './writers.contract.js';

export function readStoreContract(name: string, create: () => Promise<ReadStoreUnderTest>): void {
  describe(`read store on ${name}`, () => {
    let test: ReadStoreUnderTest;
    let store: ReadStore & ViewAdmin;
    beforeEach(async () => {
      test = await create();
      store = test.store;
    });
    afterEach(() => test.destroy());

    const fill = (): Promise<void> => fillThings(store);

    it.each<[string, JsonObject]>([
      ['texts and lists', { name: 'é\u0000"\ud800', list: [1, null, { deep: true }, []], empty: {} }],
      ['keys that mean something to an engine', { $sealed: 'x', 'a.b': { $gt: '' }, '': 0, _id: 1, live: null }],
      ['keys out of order', { z: 1, a: { y: 1, b: 2 }, m: [] }],
      ['numbers', { big: 2 ** 53, bigger: 1.5e300, small: 5e-324, third: 1 / 3, whole: 1, negative: -7, zero: 0 }],
      ['fields that are searched, of every kind', { owner: { $ne: 1 }, name: ['a', 2, null, { b: 1 }], count: true }],
      ['a megabyte and more', { text: 'ä'.repeat(700_000), name: 'n'.repeat(5_000) }],
    ])('gives back a document to the byte: %s', async (_, document) => {
      await store.save(view, [{ id: '1', revision: 1, document }], 1);
      expect(JSON.stringify(await store.get(view, '1'))).toBe(JSON.stringify(document));
      const [listed] = (await store.page(view, query())).documents;
      expect(JSON.stringify(listed)).toBe(JSON.stringify(document));
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

    it('knows again by which event a view has come as far as it is', async () => {
      const event = (position: number) => ({ stream: 'a-1', revision: position - 1, id: `id-${position}`, position });
      expect(await store.seen(view)).toBeNull();
      await fill();
      expect(await store.seen(view)).toEqual({ position: 3, event: null });
      await store.save(view, [], 5, 3, event(4));
      expect(await store.seen(view)).toEqual({ position: 5, event: event(4) });
      await store.save(view, [], 8, 5);
      const reopened = await test.reopen();
      expect(await reopened.seen(view)).toEqual({ position: 8, event: event(4) });
      await reopened.reset(view);
      expect(await reopened.seen(view)).toBeNull();
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

    it('writes hundreds of documents at once, new ones and known ones, at most the newest of each', async () => {
      const batch = (revision: number, offset: number) =>
        Array.from({ length: 500 }, (_, index) => ({
          id: `d${index + offset}`,
          revision,
          document: { name: `n${revision}` },
        }));
      await store.save(view, batch(1, 0), 1);
      await store.save(view, batch(3, 250), 3);
      await store.save(view, batch(2, 0), null);
      const stored = await store.load(view, ['d0', 'd249', 'd250', 'd499', 'd749']);
      expect([...stored.values()].map(({ revision }) => revision)).toEqual([2, 2, 3, 3, 3]);
      expect((await store.page(view, query({ limit: 1 }))).total).toBe(750);
    });

    it('keeps a view that nobody searches, and a checkpoint without documents', async () => {
      const plain: ViewDefinition = { name: 'plain', fields: [], indexes: [] };
      await store.save(plain, [], 7);
      expect(await store.checkpoint(plain)).toBe(7);
      await store.save(plain, [{ id: 'a', revision: 1, document: { id: 'a', revision: 9 } }], null);
      expect(await store.get(plain, 'a')).toEqual({ id: 'a', revision: 9 });
    });

    it('makes a view anew that has gained a field, and only then', async () => {
      await fill();
      const fewer: ViewDefinition = { ...view, fields: ['owner', 'name'] };
      const more: ViewDefinition = { ...view, fields: [...view.fields, 'colour'], indexes: [['colour'], ['owner']] };
      let reopened = await test.reopen();
      expect((await reopened.page(fewer, query())).total).toBe(3);
      reopened = await test.reopen();
      expect(await reopened.checkpoint(more)).toBeNull();
      expect((await reopened.page(more, query())).total).toBe(0);
      await reopened.save(more, [{ id: '1', revision: 1, document: { colour: 'red' } }], 1);
      const where = [{ field: 'colour', equals: 'red' }];
      expect((await reopened.page(more, query({ where }))).total).toBe(1);
    });

    it('forgets what matches and no later event has changed, however many documents that are', async () => {
      const documents = Array.from({ length: 1_203 }, (_, index) => ({
        id: `d${index}`,
        revision: index + 1,
        document: { name: `n${index}`, owner: index % 3 === 0 ? 'x' : 'y', count: index % 2 === 0 ? index : null },
      }));
      await store.save(view, documents, 1_203);
      const owner = { field: 'owner', equals: 'y' };
      await store.forget(view, { where: [owner, { field: 'count', to: 1_000 }], revision: 900 });
      const left = documents.filter(
        ({ revision, document }) => !(document.owner === 'y' && document.count !== null && revision < 900),
      );
      expect((await store.page(view, query({ limit: 1 }))).total).toBe(left.length);
      await store.forget(view, { where: [owner, { field: 'count', equals: null }], revision: 2_000 });
      const then = left.filter(({ document }) => document.owner !== 'y' || document.count !== null);
      expect((await store.page(view, query({ limit: 1 }))).total).toBe(then.length);
      expect(await store.checkpoint(view)).toBe(1_203);
      // It may come again, and is then as new.
      await store.save(view, [{ id: 'd1', revision: 1, document: { name: 'again' } }], null);
      expect(await store.get(view, 'd1')).toEqual({ name: 'again' });
      await store.forget(view, { where: [{ field: 'owner', equals: 'nobody' }], revision: 5_000 });
      expect((await store.page(view, query({ limit: 1 }))).total).toBe(then.length + 1);
    });

    it('drops documents and checkpoint on reset', async () => {
      await fill();
      await store.reset(view);
      expect(await store.checkpoint(view)).toBeNull();
      expect(await store.page(view, query())).toEqual({ documents: [], total: 0 });
      await fill();
      expect(await namesIn(store, { where: [{ field: 'owner', equals: 'y' }] })).toEqual(['eve']);
      await store.reset({ name: 'nobody_made_it', fields: [], indexes: [] });
    });

    listContract(() => store);
    writerContract(() => test);
  });
}
