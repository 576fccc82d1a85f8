/** What an event store behind a network must do when the network or the server fails. Its spec calls this with a server that fails on request. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError } from '#runtime/errors';
import type { EventBatch, EventStore, NewEvent, RecordedEvent } from './event-store.js';

export interface FailingServer {
  /** The next append is written, and its answer is lost. */
  loseNextAnswer(): Promise<void>;
  /** The connection is closed under the next append, before anything of it is written. */
  cutBeforeNextAppend(): Promise<void>;
  /** The next append arrives twice. */
  repeatNextAppend(): Promise<void>;
  /** The next append is answered by a server that is not the leader. */
  sendNextAppendElsewhere(): Promise<void>;
  /** Every open subscription ends, as if nothing were wrong or with an error. */
  endSubscriptions(how: 'quietly' | 'with an error'): Promise<void>;
  /** Every open subscription stays open and brings nothing any more. Resolves once there was one. */
  silenceSubscriptions(): Promise<void>;
  /** As by a pulled plug: not one byte more, and what was answered is on disk. */
  kill(): Promise<void>;
  /** On the same address and data. */
  start(): Promise<void>;
}

export interface EventStoreOnFailingServer {
  readonly store: EventStore;
  readonly server: FailingServer;
  destroy(): Promise<void>;
}

let counter = 0;
function event(n = 0): NewEvent {
  counter += 1;
  return {
    id: `00000000-0000-5000-9000-${String(counter).padStart(12, '0')}`,
    type: 'a.n',
    version: 1,
    data: { n },
    metadata: {
      organizationId: 'org_1',
      actor: 'key:key_1',
      requestId: 'req_1',
      causationId: null,
      at: '2026-11-21T10:00:00.000Z',
    },
  };
}

/** Everything that a subscription brings, and a way to wait until it brought enough. */
function collect(batches: AsyncIterable<EventBatch>) {
  const events: RecordedEvent[] = [];
  let changed = Promise.withResolvers<void>();
  const ended = (async () => {
    for await (const batch of batches) {
      events.push(...batch.events);
      changed.resolve();
      changed = Promise.withResolvers();
    }
  })();
  return {
    events,
    ended,
    async until(count: number): Promise<void> {
      while (events.length < count) await Promise.race([changed.promise, ended]);
    },
  };
}

const numbers = (events: readonly RecordedEvent[]): unknown[] => events.map(({ data }) => data['n']);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

export function eventStoreOutageContract(name: string, create: () => Promise<EventStoreOnFailingServer>): void {
  describe(`event store on ${name}, when things fail`, () => {
    let store: EventStore;
    let server: FailingServer;
    let destroy: () => Promise<void>;
    let ending: AbortController;
    beforeEach(async () => {
      ({ store, server, destroy } = await create());
      ending = new AbortController();
    });
    afterEach(async () => {
      ending.abort();
      await destroy();
    });

    const appendAll = async (stream: string, from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n += 1) {
        const result = await store.append(stream, [event(n)], n === 0 ? 'none' : n - 1);
        expect(result).toMatchObject({ ok: true, revision: n });
      }
    };
    /** As callers do: what was not answered is appended again, the same events at the same revision. */
    const insist = async (back: Promise<void>, ...append: Parameters<EventStore['append']>) => {
      try {
        return await store.append(...append);
      } catch (error) {
        expect(error).toMatchObject({ reason: 'event_store_unavailable' });
        await back;
        return store.append(...append);
      }
    };
    const follow = (after: number | null = null) =>
      collect(store.subscribe({ prefixes: ['a-'], after, signal: ending.signal }));

    it('learns what came of an append whose answer was lost', async () => {
      await appendAll('a-1', 0, 1);
      await server.loseNextAnswer();
      const events = [event(1), event(2)];
      const appended = await store.append('a-1', events, 0);
      expect(appended).toMatchObject({ ok: true, revision: 2 });
      const read = await Array.fromAsync(store.read('a-1'));
      expect(numbers(read)).toEqual([0, 1, 2]);
      expect(appended.ok && appended.position).toBe(read.at(-1)?.position);
    });

    it('writes once what was cut off before it was written', async () => {
      await server.cutBeforeNextAppend();
      await appendAll('a-1', 0, 3);
      expect(numbers(await Array.fromAsync(store.read('a-1')))).toEqual([0, 1, 2]);
    });

    it('writes once what arrives twice', async () => {
      await server.repeatNextAppend();
      expect(await store.append('a-1', [event(0)], 'none')).toMatchObject({ ok: true, revision: 0 });
      expect(await Array.fromAsync(store.read('a-1'))).toHaveLength(1);
    });

    it('finds the leader when another server answers', async () => {
      await server.sendNextAppendElsewhere();
      await appendAll('a-1', 0, 2);
      expect(await Array.fromAsync(store.read('a-1'))).toHaveLength(2);
    });

    it('settles every one of many appends under way when the connection is cut', async () => {
      await appendAll('a-0', 0, 1);
      await server.cutBeforeNextAppend();
      const results = await Promise.all(
        upTo(100).map((n) => store.append(`a-many-${n}`, [event(n), event(n)], 'none')),
      );
      expect(results.every((result) => result.ok && result.revision === 1)).toBe(true);
    });

    it.each(['quietly', 'with an error'] as const)('goes on where a subscription was when it ends %s', async (how) => {
      const following = follow();
      await appendAll('a-1', 0, 3);
      await following.until(3);
      await server.endSubscriptions(how);
      await appendAll('a-1', 3, 6);
      await following.until(6);
      expect(numbers(following.events)).toEqual(upTo(6));
    });

    it('notices a subscription that died without a word', async () => {
      const following = follow();
      await appendAll('a-1', 0, 3);
      await following.until(3);
      await server.silenceSubscriptions();
      await appendAll('a-1', 3, 6);
      await following.until(6);
      expect(numbers(following.events)).toEqual(upTo(6));
    });

    it('heals when the server comes back, and subscribers miss nothing', async () => {
      const following = follow();
      await appendAll('a-1', 0, 3);
      await following.until(3);
      await server.kill();
      const back = server.start();
      expect(await insist(back, 'a-1', [event(3)], 2)).toMatchObject({ ok: true, revision: 3 });
      await back;
      await appendAll('a-1', 4, 6);
      await following.until(6);
      expect(numbers(following.events)).toEqual(upTo(6));
    });

    it('loses nothing that was answered and writes nothing twice while the server is killed under its writers', async () => {
      const following = follow();
      const restarted = Promise.withResolvers<void>();
      const writers = upTo(20).map(async (writer) => {
        const answered: number[] = [];
        for (let n = 0; n < 20; n += 1) {
          const events = [event(writer * 20 + n)];
          const result = await insist(restarted.promise, `a-${writer}`, events, n === 0 ? 'none' : n - 1);
          expect(result).toMatchObject({ ok: true, revision: n });
          answered.push(writer * 20 + n);
        }
        return answered;
      });
      await following.until(50);
      await server.kill();
      await server.start();
      restarted.resolve();
      const answered = (await Promise.all(writers)).flat();
      await following.until(answered.length);
      expect(numbers(following.events).toSorted((a, b) => Number(a) - Number(b))).toEqual(upTo(400));
      const positions = following.events.map(({ position }) => position);
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
      for (const writer of upTo(20)) expect(await Array.fromAsync(store.read(`a-${writer}`))).toHaveLength(20);
    });

    it('says that it is unavailable while the server is away, for reads and writes alike', async () => {
      await appendAll('a-1', 0, 1);
      await server.kill();
      const failures = await Promise.allSettled([
        store.append('a-1', [event(1)], 0),
        store.readLast('a-1'),
        Array.fromAsync(store.read('a-1')),
      ]);
      for (const failure of failures) {
        expect(failure.status === 'rejected' && (failure.reason as unknown)).toBeInstanceOf(AppError);
        expect(failure).toMatchObject({ reason: { code: 'SERVER_ERROR', reason: 'event_store_unavailable' } });
      }
      await server.start();
      await appendAll('a-1', 1, 2);
    });

    it('ends a subscription when its signal aborts while the server is away', async () => {
      const following = follow();
      await appendAll('a-1', 0, 1);
      await following.until(1);
      await server.kill();
      ending.abort();
      await following.ended;
      await server.start();
    });
  });
}
