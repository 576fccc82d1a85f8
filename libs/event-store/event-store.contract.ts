/**
 * What every event store must do, whatever engine it stands on. An adapter's spec calls this with a way to make one, which
 * signs its events with `contractKey`.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError } from '#runtime/errors';
import { createEventChains } from './event-chain.js';
import type { EventArchive, EventBatch, NewEvent } from './event-store.js';
import { verifyEvents } from './verify-events.js';

export const contractKey: Uint8Array = Buffer.alloc(32, 3);

export interface EventStoreUnderTest {
  readonly store: EventArchive;
  /** Closes it and opens another on the same data, as after a restart. */
  reopen(): Promise<EventArchive>;
  destroy(): Promise<void>;
}

let counter = 0;
function event(type: string, data: NewEvent['data'] = {}): NewEvent {
  counter += 1;
  return {
    id: `00000000-0000-5000-8000-${String(counter).padStart(12, '0')}`,
    type,
    version: 1,
    data,
    metadata: {
      organizationId: 'org_1',
      actor: 'key:key_1',
      requestId: 'req_1',
      causationId: null,
      at: '2026-11-21T10:00:00.000Z',
    },
  };
}

/** What a check of all events finds, from the first on: `what stream@revision`. */
async function faultsIn(store: EventArchive, key = contractKey): Promise<string[]> {
  const search = { history: store.stored, chains: createEventChains(key), signedAfter: -1 };
  const faults = verifyEvents({ ...search, end: (await store.lastPosition()) ?? 0 });
  return (await Array.fromAsync(faults)).map(
    ({ what, event: { stream, revision } }) => `${what} ${stream}@${revision}`,
  );
}

async function take(batches: AsyncIterable<EventBatch>, count: number): Promise<EventBatch['events'][number][]> {
  const events: EventBatch['events'][number][] = [];
  for await (const batch of batches) {
    events.push(...batch.events);
    if (events.length >= count) break;
  }
  return events;
}

export function eventStoreContract(name: string, create: () => Promise<EventStoreUnderTest>): void {
  describe(`event store on ${name}`, () => {
    let test: EventStoreUnderTest;
    let store: EventArchive;
    let ending: AbortController;
    beforeEach(async () => {
      test = await create();
      store = test.store;
      ending = new AbortController();
    });
    afterEach(async () => {
      ending.abort();
      await test.destroy();
    });

    it('reads back what was appended, in order, with revisions from 0 and growing positions', async () => {
      const written = [event('a.one', { text: 'é\u0000"' }), event('a.two', { list: [1, null, true] })];
      const appended = await store.append('a-1', written, 'none');
      expect(appended).toMatchObject({ ok: true, revision: 1 });
      const read = await Array.fromAsync(store.read('a-1'));
      expect(read.map(({ revision }) => revision)).toEqual([0, 1]);
      expect(read.map(({ type, data, id, metadata, version }) => ({ type, data, id, metadata, version }))).toEqual(
        written,
      );
      expect(read[1]?.position ?? 0).toBeGreaterThan(read[0]?.position ?? 0);
      expect(read[1]?.position).toBe(appended.ok && appended.position);
    });

    it('has no events in a stream that does not exist', async () => {
      expect(await Array.fromAsync(store.read('a-none'))).toEqual([]);
      expect(await store.readLast('a-none')).toBeNull();
    });

    it('refuses an append at another revision and writes nothing of it', async () => {
      await store.append('a-1', [event('a.one')], 'none');
      expect(await store.append('a-1', [event('a.two')], 'none')).toEqual({ ok: false, revision: 0 });
      expect(await store.append('a-1', [event('a.two')], 3)).toEqual({ ok: false, revision: 0 });
      expect(await store.append('a-2', [event('a.two')], 0)).toEqual({ ok: false, revision: null });
      expect(await Array.fromAsync(store.read('a-1'))).toHaveLength(1);
      expect(await Array.fromAsync(store.read('a-2'))).toHaveLength(0);
    });

    it('answers a repeated append as the first time', async () => {
      await store.append('a-1', [event('a.zero')], 'none');
      const events = [event('a.one'), event('a.two')];
      const first = await store.append('a-1', events, 0);
      expect(await store.append('a-1', events, 0)).toEqual(first);
      expect(await Array.fromAsync(store.read('a-1'))).toHaveLength(3);
    });

    it('lets exactly one of many writers at the same revision win', async () => {
      await store.append('a-1', [event('a.zero')], 'none');
      const results = await Promise.all(Array.from({ length: 20 }, () => store.append('a-1', [event('a.one')], 0)));
      expect(results.filter(({ ok }) => ok)).toHaveLength(1);
      expect(await Array.fromAsync(store.read('a-1'))).toHaveLength(2);
    });

    it('reads from a revision on, and the last event alone', async () => {
      await store.append(
        'a-1',
        Array.from({ length: 1_200 }, (_, index) => event('a.n', { index })),
        'none',
      );
      const tail = await Array.fromAsync(store.read('a-1', 1_190));
      expect(tail.map(({ data }) => data['index'])).toEqual([
        1190, 1191, 1192, 1193, 1194, 1195, 1196, 1197, 1198, 1199,
      ]);
      expect((await store.readLast('a-1'))?.data).toEqual({ index: 1_199 });
      expect(await Array.fromAsync(store.read('a-1'))).toHaveLength(1_200);
    });

    it('keeps everything over a restart', async () => {
      await store.append('a-1', [event('a.one')], 'none');
      const reopened = await test.reopen();
      expect(await Array.fromAsync(reopened.read('a-1'))).toHaveLength(1);
      expect(await reopened.append('a-1', [event('a.two')], 0)).toMatchObject({ ok: true, revision: 1 });
    });

    it('hands subscribers first what is there, then what comes, of the streams they asked for', async () => {
      await store.append('a-1', [event('a.one')], 'none');
      await store.append('b-1', [event('b.one')], 'none');
      const following = take(store.subscribe({ prefixes: ['a-'], after: null, signal: ending.signal }), 3);
      await store.append('a-1', [event('a.two')], 0);
      await store.append('b-1', [event('b.two')], 0);
      await store.append('a-2', [event('a.three')], 'none');
      expect((await following).map(({ type }) => type)).toEqual(['a.one', 'a.two', 'a.three']);
    });

    it('goes on behind the position a subscriber stored, over a restart too', async () => {
      await store.append('a-1', [event('a.one'), event('a.two'), event('a.three')], 'none');
      const [first] = await take(store.subscribe({ prefixes: ['a-'], after: null, signal: ending.signal }), 1);
      const reopened = await test.reopen();
      const rest = await take(
        reopened.subscribe({ prefixes: ['a-'], after: first?.position ?? null, signal: ending.signal }),
        2,
      );
      expect(rest.map(({ type }) => type)).toEqual(['a.two', 'a.three']);
    });

    it('misses nothing while appends and a slow subscriber race', async () => {
      const total = 3_000;
      const following = take(store.subscribe({ prefixes: ['a-'], after: null, signal: ending.signal }), total);
      for (let index = 0; index < total; index += 100) {
        await Promise.all(
          Array.from({ length: 100 }, (_, offset) =>
            store.append(`a-${index + offset}`, [event('a.n', { n: index + offset })], 'none'),
          ),
        );
      }
      const seen = await following;
      expect(new Set(seen.map(({ data }) => data['n'])).size).toBe(total);
      const positions = seen.map(({ position }) => position);
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    });

    it('ends a subscription when its signal aborts', async () => {
      const batches = Array.fromAsync(store.subscribe({ prefixes: ['a-'], after: null, signal: ending.signal }));
      ending.abort();
      expect(await batches).toEqual([]);
    });

    it('keeps the order of appends to several streams', async () => {
      const streams = Array.from({ length: 450 }, (_, index) => `a-${index % 150}`);
      const appends = streams.map((stream, index) => ({
        stream,
        events: [event('a.n', { n: 2 * index }), event('a.n', { n: 2 * index + 1 })],
        expected: index < 150 ? ('none' as const) : 2 * Math.floor(index / 150) - 1,
      }));
      const answers = await store.appendInOrder(appends);
      expect(answers.filter(({ ok }) => ok)).toHaveLength(appends.length);
      const seen = await take(store.subscribe({ prefixes: ['a-'], after: null, signal: ending.signal }), 900);
      expect(seen.map(({ data }) => data['n'])).toEqual(Array.from({ length: 900 }, (_, n) => n));
      expect(await store.appendInOrder(appends)).toEqual(answers);
      expect(await store.appendInOrder([])).toEqual([]);
    });

    it('writes nothing behind an append that is not taken, where their order counts', async () => {
      await store.append('a-taken', [event('a.one')], 'none');
      const append = (stream: string) => ({ stream, events: [event('a.n')], expected: 'none' as const });
      const first = Array.from({ length: 210 }, (_, index) => append(`a-${index}`));
      const rest = Array.from({ length: 210 }, (_, index) => append(`b-${index}`));
      const answers = await store.appendInOrder([...first, append('a-taken'), ...rest]);
      expect(answers).toHaveLength(211);
      expect(answers.filter(({ ok }) => ok)).toHaveLength(210);
      expect(answers.at(-1)).toEqual({ ok: false, revision: 0 });
      for (const { stream } of rest) expect(await store.readLast(stream)).toBeNull();
      expect(await store.appendInOrder([append('c-1')])).toMatchObject([{ ok: true, revision: 0 }]);
    });

    it('tells a position behind which there is nothing, and a subscriber that he has come so far', async () => {
      await store.append('b-1', [event('b.one')], 'none');
      const appended = await store.append('a-1', [event('a.one'), event('a.two')], 'none');
      await store.append('b-1', [event('b.two')], 0);
      const last = (await store.lastPosition()) ?? 0;
      expect(last).toBeGreaterThan(appended.ok ? appended.position : Infinity);
      let reached = -1;
      for await (const { position } of store.subscribe({ prefixes: ['a-'], after: null, signal: ending.signal })) {
        reached = position;
        if (reached >= last) break;
      }
      expect(reached).toBeGreaterThanOrEqual(last);
    });

    it('gives each event a MAC that fits, however it was appended, and over a restart', async () => {
      const odd = { '10': 1, '2': -0, text: 'é\u0000"\ud800', nested: { b: [1.5e300, null], a: {} } };
      await store.append('a-1', [event('a.one', odd), event('a.two')], 'none');
      await store.append('a-1', [event('a.three')], 1);
      const events = [event('a.four', odd)];
      await store.append('a-1', events, 2);
      // The same ids again, made at another time: what is stored is what was first.
      const later = events.map((first) => ({
        ...first,
        metadata: { ...first.metadata, at: '2026-11-21T11:00:00.000Z' },
      }));
      await store.append('a-1', later, 2);
      await store.append('a-1', [event('a.five')], 3);
      expect(await store.append('a-1', [event('a.lost')], 3)).toMatchObject({ ok: false });
      await store.append('a-1', [event('a.six')], 4);
      await Promise.all([1, 2, 3].map((n) => store.append(`b-${n}`, [event('b.one')], 'none')));
      await Promise.all(Array.from({ length: 20 }, () => store.append('b-1', [event('b.two')], 0)));
      await store.append('b-1', [event('b.three')], 1);
      await store.appendInOrder([
        { stream: 'c-1', events: [event('c.one'), event('c.two')], expected: 'none' },
        { stream: 'a-1', events: [event('a.seven')], expected: 5 },
        { stream: 'c-1', events: [event('c.three')], expected: 1 },
      ]);
      await store.append('c-1', [event('c.four')], 2);
      expect(await faultsIn(store)).toEqual([]);
      const reopened = await test.reopen();
      await reopened.append('c-1', [event('c.five')], 3);
      expect(await faultsIn(reopened)).toEqual([]);
      expect((await reopened.stored.at('c-1', 4))?.mac).toMatch(/^[\w-]{22}$/);
      expect(await reopened.stored.at('c-1', 5)).toBeNull();
    });

    it('gives MACs that fit no other key, and shows none of them to those who read', async () => {
      await store.append('a-1', [event('a.one'), event('a.two')], 'none');
      expect(await faultsIn(store, Buffer.alloc(32, 4))).toEqual(['altered a-1@0', 'altered a-1@1']);
      const [mac] = (await Array.fromAsync(store.stored.read(null, (await store.lastPosition()) ?? 0)))[0] ?? [];
      expect(JSON.stringify(await Array.fromAsync(store.read('a-1')))).not.toContain(mac?.mac);
    });

    it('drops the first events of a stream, and goes on from the last', async () => {
      const events = Array.from({ length: 700 }, (_, n) => event('a.n', { n }));
      await store.append('a-1', events, 'none');
      await store.append('b-1', [event('b.one')], 'none');
      await store.truncate('a-1', 620);
      const numbers = async (from: EventArchive, revision = 0) =>
        (await Array.fromAsync(from.read('a-1', revision))).map(({ data, revision: at }) => [at, data['n']]);
      const left = Array.from({ length: 80 }, (_, index) => [620 + index, 620 + index]);
      expect(await numbers(store)).toEqual(left);
      expect(await numbers(store, 619)).toEqual(left);
      expect(await numbers(store, 650)).toEqual(left.slice(30));
      expect((await store.readLast('a-1'))?.revision).toBe(699);
      // Less than what is gone, and a stream that is not there, change nothing.
      await store.truncate('a-1', 10);
      await store.truncate('no-1', 10);
      expect(await numbers(store)).toEqual(left);
      expect(await store.append('a-1', [event('a.late')], 600)).toEqual({ ok: false, revision: 699 });
      const last = [event('a.more', { n: 700 })];
      expect(await store.append('a-1', last, 699)).toMatchObject({ ok: true, revision: 700 });
      expect(await store.append('a-1', last, 699)).toMatchObject({ ok: true, revision: 700 });
      await store.truncate('a-1', 5_000);
      expect(await numbers(store)).toEqual([[700, 700]]);
      expect(await store.append('a-1', [event('a.n', { n: 701 })], 700)).toMatchObject({ ok: true, revision: 701 });
      expect(await numbers(await test.reopen())).toEqual([
        [700, 700],
        [701, 701],
      ]);
    });

    it('has nothing that looks changed where first events were dropped, again and again', async () => {
      await store.append('a-1', [event('a.one'), event('a.two'), event('a.three')], 'none');
      await store.append('b-1', [event('b.one'), event('b.two')], 'none');
      await store.truncate('a-1', 1);
      expect(await faultsIn(store)).toEqual([]);
      expect(await store.stored.beginning('a-1')).toMatchObject({ stream: 'a-1', revision: 1 });
      expect(await store.stored.beginning('b-1')).toBeNull();
      await store.append('a-1', [event('a.four')], 2);
      await store.truncate('a-1', 3);
      await store.truncate('b-1', 1);
      await store.append('a-1', [event('a.five')], 3);
      expect(await faultsIn(store)).toEqual([]);
      expect(await faultsIn(await test.reopen())).toEqual([]);
    });

    it('hands a follower what is left, whether it begins before or behind what was dropped', async () => {
      await store.append('a-1', [event('a.one'), event('a.two'), event('a.three')], 'none');
      const appended = await store.append('b-1', [event('b.one')], 'none');
      await store.truncate('a-1', 2);
      const { signal } = ending;
      const follow = async (after: number | null, until: string): Promise<string[]> => {
        const types: string[] = [];
        for await (const { events } of store.subscribe({ prefixes: ['a-', 'b-'], after, signal })) {
          types.push(...events.map(({ type }) => type));
          if (types.includes(until)) break;
        }
        return types;
      };
      expect((await follow(null, 'b.one')).slice(-2)).toEqual(['a.three', 'b.one']);
      await store.append('a-1', [event('a.four')], 2);
      expect(await follow(appended.ok ? appended.position : null, 'a.four')).toEqual(['a.four']);
    });

    it('answers an append after it was closed with a reason', async () => {
      await store.close();
      const refused = store.append('a-1', [event('a.one')], 'none');
      await expect(refused).rejects.toBeInstanceOf(AppError);
      await expect(refused).rejects.toMatchObject({ reason: 'event_store_unavailable' });
    });
  });
}
