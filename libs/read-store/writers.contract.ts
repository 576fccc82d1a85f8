/** What must hold where several processes write a view, or one is put in the place of another. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '#event-store/event-store';
import { AppError } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';
import { fillThings, namesIn, query, view, type ReadStoreUnderTest } from './kit.contract.js';
import { projectBatch } from '#eventing/projected';
import type { PageQuery, ReadStore, ViewDefinition, ViewAdmin } from './read-store.js';

export function writerContract(current: () => ReadStoreUnderTest): void {
  describe('writers', () => {
    let test: ReadStoreUnderTest;
    let store: ReadStore & ViewAdmin;
    beforeEach(() => {
      test = current();
      store = test.store;
    });
    const fill = (): Promise<void> => fillThings(store);
    const names = (more: Partial<PageQuery>): Promise<unknown[]> => namesIn(store, more);

    describe('with more than one writer', () => {
      /** Counts its events; `end` removes it. */
      const counter = {
        view,
        idOf: ({ stream }: RecordedEvent) => stream,
        reduce: (document: JsonObject | null, { type }: RecordedEvent): JsonObject | null =>
          type === 'end' ? null : { name: 'n', count: Number(document?.['count'] ?? 0) + 1 },
      };
      const event = (position: number, stream: string, type = 'more'): RecordedEvent => ({
        id: String(position),
        type,
        version: 1,
        data: {},
        metadata: { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '' },
        stream,
        revision: 0,
        position,
      });
      /** As a projection does: loads, then saves; out of step it goes on from the checkpoint. Two processes may do so at once. */
      const keep = async (
        readStore: ReadStore,
        events: readonly RecordedEvent[],
        batchSize: number,
        between: () => Promise<void> = async () => undefined,
      ): Promise<void> => {
        for (;;) {
          const after = await readStore.checkpoint(view);
          const batch = events.filter(({ position }) => position > (after ?? -1)).slice(0, batchSize);
          const last = batch.at(-1);
          if (last === undefined) return;
          const writes = await projectBatch({ ...counter, readStore }, batch);
          await between();
          await readStore.save(view, writes, last.position, after).catch((error: unknown) => {
            if (!(error instanceof AppError) || error.reason !== 'view_out_of_step') throw error;
          });
        }
      };

      it('two that keep the same view from the same events leave what one would', async () => {
        const events = Array.from({ length: 300 }, (_, index) =>
          event(index, `s${(index * 7) % 23}`, index % 50 === 49 ? 'end' : 'more'),
        );
        const second = await test.second();
        await Promise.all([keep(store, events, 7), keep(second, events, 11), keep(second, events, 40)]);
        const expected = new Map<string, JsonObject | null>();
        for (const one of events) expected.set(one.stream, counter.reduce(expected.get(one.stream) ?? null, one));
        for (const [id, document] of expected) expect([id, await store.get(view, id)]).toEqual([id, document]);
        expect(await second.checkpoint(view)).toBe(299);
      });

      it('one that was held up changes nothing once another has gone on', async () => {
        const second = await test.second();
        const events = [event(1, 'a'), event(2, 'b'), event(3, 'b', 'end'), event(4, 'a')];
        let others: Promise<void> | null = null;
        await keep(store, events, 2, async () => {
          await (others ??= keep(second, events, 10));
        });
        expect(await store.get(view, 'a')).toEqual({ name: 'n', count: 2 });
        expect(await store.get(view, 'b')).toBeNull();
        expect(await store.checkpoint(view)).toBe(4);
        expect((await store.page(view, query())).total).toBe(1);
      });

      it('what a reader saw before a writer went on does not hinder that writer', async () => {
        const second = await test.second();
        await store.save(view, [{ id: 'a', revision: 1, document: { name: 'a' } }], 1);
        await store.load(view, ['a']);
        await second.save(view, [{ id: 'a', revision: 2, document: { name: 'b' } }], 2);
        await store.save(view, [{ id: 'a', revision: 3, document: { name: 'c' } }], 3, 2);
        expect(await second.get(view, 'a')).toEqual({ name: 'c' });
        expect(await second.checkpoint(view)).toBe(3);
      });

      it('of many that make the same documents at once the newest stays', async () => {
        const stores = [store, await test.second()];
        const ids = Array.from({ length: 40 }, (_, index) => `d${index}`);
        const revisions = [4, 1, 6, 3, 5, 2];
        await Promise.all(
          revisions.map((revision, index) =>
            (stores[index % 2] ?? store).save(
              view,
              ids.map((id) => ({ id, revision, document: { name: `n${revision}` } })),
              revision,
            ),
          ),
        );
        for (const { revision, document } of (await store.load(view, ids)).values()) {
          expect([revision, document]).toEqual([6, { name: 'n6' }]);
        }
        expect(await store.checkpoint(view)).toBe(6);
      });

      it('each sees at once what the other was told is written', async () => {
        const second = await test.second();
        for (let revision = 1; revision <= 30; revision += 1) {
          await store.save(view, [{ id: 'a', revision, document: { name: `${revision}` } }], revision);
          expect(await second.get(view, 'a')).toEqual({ name: `${revision}` });
          expect(await second.checkpoint(view)).toBe(revision);
          expect((await second.page(view, query({ where: [{ field: 'name', equals: `${revision}` }] }))).total).toBe(1);
        }
      });

      it('both may use a view for the first time', async () => {
        const second = await test.second();
        const fresh: ViewDefinition = { ...view, name: 'fresh' };
        await Promise.all(
          [store, second, store, second].map((one, index) =>
            one.save(fresh, [{ id: `${index}`, revision: 1, document: { name: 'a' } }], index),
          ),
        );
        expect((await store.page(fresh, query())).total).toBe(4);
        expect(await second.checkpoint(fresh)).toBe(3);
      });
    });

    describe('a view that was built beside', () => {
      const built: ViewDefinition = { ...view, name: 'things_built' };
      const saveBuilt = (position: number): Promise<void> =>
        store.save(built, [{ id: '9', revision: position, document: { name: 'built', owner: 'x' } }], position);

      it('takes the place of the live one, documents, lists and checkpoint, for every process', async () => {
        const second = await test.second();
        await fill();
        await saveBuilt(5);
        expect(await second.checkpoint(view)).toBe(3);
        await store.replace(view, built);
        for (const one of [store, second]) {
          expect(await one.checkpoint(view)).toBe(5);
          expect(await one.get(view, '1')).toBeNull();
          expect(await one.page(view, query({ where: [{ field: 'owner', equals: 'x' }] }))).toEqual({
            documents: [{ name: 'built', owner: 'x' }],
            total: 1,
          });
        }
        expect(await store.checkpoint(built)).toBeNull();
        expect((await store.page(built, query())).total).toBe(0);
        const reopened = await test.reopen();
        expect(await reopened.checkpoint(view)).toBe(5);
      });

      it('may be built and switched again and again', async () => {
        await fill();
        for (let round = 5; round < 9; round += 1) {
          await saveBuilt(round);
          await store.replace(view, built);
          await store.save(view, [{ id: '7', revision: round, document: { name: 'live' } }], null, round);
          expect(await names({})).toEqual(['built', 'live']);
        }
        const reopened = await test.reopen();
        expect((await reopened.page(view, query({ where: [{ field: 'owner', equals: 'x' }] }))).total).toBe(1);
      });

      it('may be given the indexes that it was built without, and brings along by which event it has come as far', async () => {
        const event = { stream: 'a-1', revision: 0, id: 'id', position: 4 };
        const bare: ViewDefinition = { ...built, indexes: [] };
        await fill();
        await store.save(
          bare,
          [{ id: '9', revision: 4, document: { name: 'built', owner: 'x' } }],
          5,
          undefined,
          event,
        );
        await store.index(view, bare);
        await store.index(view, bare);
        await store.replace(view, bare);
        expect(await store.seen(view)).toEqual({ position: 5, event });
        expect(await store.seen(bare)).toBeNull();
        const reopened = await test.reopen();
        expect((await reopened.page(view, query({ where: [{ field: 'owner', equals: 'x' }] }))).total).toBe(1);
      });

      it('does not take the place where it has seen less, or nothing', async () => {
        await fill();
        await expect(store.replace(view, built)).rejects.toMatchObject({ reason: 'view_out_of_step' });
        await saveBuilt(2);
        await expect(store.replace(view, built)).rejects.toMatchObject({ reason: 'view_out_of_step' });
        expect(await names({})).toEqual(['Bob_100%', 'ada', 'eve']);
        expect(await store.checkpoint(view)).toBe(3);
      });

      it('takes the place of a view that is not there yet', async () => {
        await saveBuilt(2);
        await store.replace(view, built);
        expect(await names({})).toEqual(['built']);
      });

      it('makes a writer go on from its checkpoint who knew the other one', async () => {
        await fill();
        await saveBuilt(3);
        await store.save(view, [], 6, 3);
        await store.reset(view);
        await store.replace(view, built);
        const late = store.save(view, [{ id: '1', revision: 7, document: { name: 'gap' } }], 7, 6);
        await expect(late).rejects.toMatchObject({ reason: 'view_out_of_step' });
        expect(await store.checkpoint(view)).toBe(3);
        expect(await store.get(view, '1')).toBeNull();
        await store.save(view, [{ id: '1', revision: 7, document: { name: 'whole' } }], 7, 3);
        expect(await names({})).toEqual(['built', 'whole']);
      });

      it('does not disturb who reads meanwhile', async () => {
        const second = await test.second();
        await fill();
        let switching = true;
        const reading = (async (): Promise<number> => {
          let pages = 0;
          while (switching) {
            const { documents } = await second.page(view, query({ where: [{ field: 'owner', equals: 'x' }] }));
            expect(documents.length).toBeGreaterThan(0);
            expect(await second.checkpoint(view)).toBeGreaterThanOrEqual(3);
            pages += 1;
          }
          return pages;
        })();
        for (let round = 5; round < 12; round += 1) {
          await saveBuilt(round);
          await store.replace(view, built);
        }
        switching = false;
        expect(await reading).toBeGreaterThan(0);
      });
    });
  });
}
