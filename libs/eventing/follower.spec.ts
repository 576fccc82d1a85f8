import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSoleLeases } from '#leases/sole';
import type { EventStore, NewEvent } from '#event-store/event-store';
import { unavailable } from '#runtime/errors';
import { failingFollowers } from './failing-followers.js';
import { startFollower } from './follower.js';
import { createSqliteEventStore } from '#event-store/sqlite';

const event = (stream: string, type: string): NewEvent & { readonly stream: string } => ({
  stream,
  id: crypto.randomUUID(),
  type,
  version: 1,
  data: {},
  metadata: { organizationId: '', actor: 'system:spec', requestId: '', causationId: null, at: '' },
});

describe('a follower', () => {
  let eventStore: EventStore;
  beforeEach(() => {
    eventStore = createSqliteEventStore(':memory:');
  });
  afterEach(() => eventStore.close());

  it('stops at an event that it cannot read and logs it, while others go on', async () => {
    for (const { stream, ...one } of [event('a-1', 'known'), event('a-2', 'unheard_of'), event('a-3', 'known')]) {
      await eventStore.append(stream, [one], 'none');
    }
    const told = Promise.withResolvers<object>();
    const passed = Promise.withResolvers<void>();
    const common = { prefixes: ['a-'], eventStore, leases: createSoleLeases(), after: async () => null };
    const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const strict = startFollower({
      ...common,
      name: 'strict',
      logger: { ...quiet, error: (fields) => told.resolve(fields) },
      handle: async ({ events }) => {
        if (events.some(({ type }) => type === 'unheard_of')) throw new Error('a-2@0: cannot read unheard_of v1');
      },
    });
    const lenient = startFollower({
      ...common,
      name: 'lenient',
      logger: quiet,
      handle: async ({ events }) => {
        if (events.some(({ stream }) => stream === 'a-3')) passed.resolve();
      },
    });
    expect(await told.promise).toMatchObject({ follower: 'strict', error: 'Error: a-2@0: cannot read unheard_of v1' });
    await passed.promise;
    const inAMinuteMs = performance.now() + 60_000;
    expect([failingFollowers(), failingFollowers(inAMinuteMs)]).toEqual([[], ['strict']]);
    await Promise.all([strict.stop(), lenient.stop()]);
    expect(failingFollowers(inAMinuteMs)).toEqual([]);
  });

  it('logs an outage as a warning, not as an error', async () => {
    const { stream, ...one } = event('a-1', 'known');
    await eventStore.append(stream, [one], 'none');
    const told = Promise.withResolvers<string>();
    const follower = startFollower({
      name: 'waits',
      prefixes: ['a-'],
      eventStore,
      leases: createSoleLeases(),
      after: async () => null,
      logger: {
        debug: () => {},
        info: () => {},
        warn: () => told.resolve('warn'),
        error: () => told.resolve('error'),
      },
      handle: () => Promise.reject(unavailable('read_store_unavailable', 'The read store does not answer.')),
    });
    expect(await told.promise).toBe('warn');
    await follower.stop();
  });

  it('restarts at its checkpoint after a fault', async () => {
    const { stream, ...one } = event('a-1', 'known');
    await eventStore.append(stream, [one], 'none');
    let tries = 0;
    const handled = Promise.withResolvers<string>();
    const follower = startFollower({
      name: 'again',
      prefixes: ['a-'],
      eventStore,
      leases: createSoleLeases(),
      logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
      after: async () => null,
      handle: async ({ events }) => {
        tries += 1;
        if (tries === 1) throw new Error('not now');
        handled.resolve(events[0]?.id ?? '');
      },
    });
    expect(await handled.promise).toBe(one.id);
    await follower.stop();
  });

  it('yields to the event loop while it catches up', async () => {
    const total = 14_000;
    await eventStore.append(
      'a-1',
      Array.from({ length: total }, () => event('a-1', 'known')),
      'none',
    );
    const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    let handled = 0;
    const follower = startFollower({
      name: 'far-behind',
      prefixes: ['a-'],
      eventStore,
      leases: createSoleLeases(),
      logger: quiet,
      after: async () => null,
      handle: async ({ events }) => {
        handled += events.length;
      },
    });
    const atTurns = new Set<number>();
    while (handled < total) {
      await new Promise((resolve) => setImmediate(resolve));
      atTurns.add(handled);
    }
    // Not only before the last of them, where it waits whether there are more.
    expect([...atTurns].filter((count) => count > 0 && count < total).length).toBeGreaterThan(1);
    await follower.stop();
  });
});
