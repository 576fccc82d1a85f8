import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AppError } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { found, lasting } from '#runtime/probe.kit';
import type { EventStore, NewEvent } from './event-store.js';
import { createEventStoreDbEventStore } from './eventstoredb.js';
import { createFailingServer } from './eventstoredb.kit.js';

const newEvent = (n: number): NewEvent => ({
  id: randomUUID(),
  type: 'a.n',
  version: 1,
  data: { n },
  metadata: { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '2026-11-21T10:00:00.000Z' },
});

const members = 3;
const writers = 8;

interface Outcome {
  readonly written: ReadonlyMap<string, number>;
  readonly stale: number;
  readonly refused: number;
}

/** Writers who read what they wrote, each in a stream of its own, until they are stopped. */
function startWriters(store: EventStore) {
  const ending = new AbortController();
  const written = new Map<string, number>();
  let [stale, refused] = [0, 0];
  const write = async (stream: string): Promise<void> => {
    for (let n = 0; !ending.signal.aborted; n += 1) {
      const event = newEvent(n);
      while (!ending.signal.aborted) {
        try {
          const result = await store.append(stream, [event], n === 0 ? 'none' : n - 1);
          if (!result.ok) throw new Error(`${stream}@${n}: somebody else wrote ${result.revision}`);
          break;
        } catch (error) {
          if (!(error instanceof AppError) || error.reason !== 'event_store_unavailable') throw error;
          refused += 1;
          await lasting(100);
        }
      }
      written.set(stream, n);
      const last = await store.readLast(stream).catch(() => null);
      if (last !== null && last.revision < n) stale += 1;
    }
  };
  const done = Promise.all(Array.from({ length: writers }, (_, index) => write(`a-${index}`)));
  return {
    /** How many events of each are there by now. */
    least: () => (written.size < writers ? -1 : Math.min(...written.values())),
    async stop(): Promise<Outcome> {
      ending.abort();
      await done;
      return { written, stale, refused };
    },
  };
}

describe('the EventStoreDB adapter on a cluster whose followers lag behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-eventstoredb-cluster-'));
  const { server, post, state, url } = createFailingServer(folder, members);
  beforeAll(async () => {
    await server.start();
    for (let member = 0; member < members; member += 1) await post(`/members/${member}/lag?events=40`);
  });
  afterAll(async () => {
    await server.kill();
    rmSync(folder, { recursive: true });
  });
  const open = () =>
    createEventStoreDbEventStore({
      url: url(),
      installation: `test-${randomBytes(6).toString('hex')}`,
      logger: silentLogger,
    });
  const stores: EventStore[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  const opened = async (): Promise<EventStore> => {
    const store = await open();
    stores.push(store);
    return store;
  };
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });
  const leader = async (): Promise<number> => {
    const { members: all } = (await state()) as { members: readonly { readonly state: string }[] };
    return all.findIndex((member) => member.state === 'leader');
  };
  const lost = async (): Promise<number> => {
    const { members: all } = (await state()) as { members: readonly { readonly state: string }[] };
    return all.findIndex((member) => member.state === 'killed' || member.state === 'hung');
  };

  it.each([
    ['resigns', 'resign'],
    ['is killed', 'kill'],
    ['hangs', 'hang'],
  ])('loses nothing, doubles nothing and reads nothing stale when the leader %s', async (_, what) => {
    const store = await opened();
    const ending = new AbortController();
    const seen = new Map<string, number[]>();
    const following = (async () => {
      for await (const { events } of store.subscribe({ prefixes: ['a-'], after: null, signal: ending.signal })) {
        for (const { stream, data } of events) seen.set(stream, [...(seen.get(stream) ?? []), Number(data['n'])]);
      }
    })();
    const writing = startWriters(store);
    stops.push(() => writing.stop());
    const reached = async (count: number): Promise<void> => {
      await found(async () => writing.least() >= count);
    };
    await reached(20);
    for (let round = 0; round < 2; round += 1) {
      const before = await leader();
      await post(`/leader/${what}`);
      await reached(writing.least() + 20);
      expect(await leader()).not.toBe(before);
      const gone = await lost();
      if (gone >= 0) await post(`/members/${gone}/start`);
    }
    const { written, stale, refused } = await writing.stop();
    expect(stale).toBe(0);
    // Who is in the middle of a call when the leader hangs may wait longer than it is patient.
    if (what !== 'hang') expect(refused).toBe(0);
    for (const [stream, last] of written) {
      const numbers = (await Array.fromAsync(store.read(stream))).map(({ data }) => data['n']);
      const expected = Array.from({ length: last + 1 }, (_each, n) => n);
      expect(numbers).toEqual(expected);
      await found(async () => (seen.get(stream)?.length ?? 0) >= expected.length);
      expect(seen.get(stream)).toEqual(expected);
    }
    ending.abort();
    await following;
  });
});
