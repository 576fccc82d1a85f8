import { afterEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import type { EventBatch, RecordedEvent } from './event-store.js';
import { createSharedSubscription, type SizedEvent, type SubscriptionSource } from './shared-subscription.js';

/** A log in memory, with every subscription that is open. */
function createLog() {
  const events: RecordedEvent[] = [];
  let changed = Promise.withResolvers<void>();
  let failure: Error | null = null;
  const open: (readonly string[])[] = [];
  const source: SubscriptionSource = {
    logger: silentLogger,
    limits: { events: 4, characters: 1_000_000 },
    lastPosition: async () => events.at(-1)?.position ?? null,
    async *follow({ prefixes, after, signal }) {
      open.push(prefixes);
      const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      let place = after ?? -1;
      try {
        while (!signal.aborted) {
          if (failure !== null && prefixes.includes('')) throw failure;
          const { promise } = changed;
          const behind = events.filter(({ position }) => position > place);
          place = behind.at(-1)?.position ?? place;
          const wanted = behind.filter(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
          if (behind.length > 0) yield { events: wanted.map(sized), position: place };
          else await Promise.race([promise, stopped]);
        }
      } finally {
        open.splice(open.indexOf(prefixes), 1);
      }
    },
  };
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  return {
    source,
    open,
    append(stream: string): void {
      const position = events.length;
      events.push({
        stream,
        revision: 0,
        position,
        id: `${position}`,
        type: 'a',
        version: 1,
        data: {},
        metadata,
      });
      tell();
    },
    fail(error: Error): void {
      failure = error;
      tell();
    },
  };
}

const metadata = { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '2026-11-21T10:00:00.000Z' };
const sized = (event: RecordedEvent): SizedEvent => ({ position: event.position, event, characters: 10 });

describe('a shared subscription', () => {
  const endings: AbortController[] = [];
  afterEach(() => {
    for (const ending of endings.splice(0)) ending.abort();
  });
  /** Everything that a follower got; `isHeld` keeps it from taking more. */
  const collect = (
    subscribe: ReturnType<typeof createSharedSubscription>['subscribe'],
    prefix: string,
    after: number | null,
  ) => {
    const ending = new AbortController();
    endings.push(ending);
    const seen: number[] = [];
    const places: number[] = [];
    let held = Promise.withResolvers<void>();
    held.resolve();
    const take = (batch: EventBatch): void => {
      seen.push(...batch.events.map(({ position }) => position));
      places.push(batch.position);
    };
    const ended = (async () => {
      for await (const batch of subscribe({ prefixes: [prefix], after, signal: ending.signal })) {
        take(batch);
        await held.promise;
      }
    })();
    return {
      seen,
      places,
      ended,
      end: () => ending.abort(),
      hold(): void {
        held = Promise.withResolvers();
      },
      letGo: () => held.resolve(),
    };
  };
  const positions = (from: number, to: number): number[] =>
    Array.from({ length: to - from }, (_, index) => from + index);

  it('is one for all who have caught up, and each gets what it asked for, in order', async () => {
    const log = createLog();
    const { subscribe } = createSharedSubscription(log.source);
    for (let n = 0; n < 10; n += 1) log.append(n % 2 === 0 ? 'a-1' : 'b-1');
    const all = Array.from({ length: 20 }, (_, index) => collect(subscribe, index % 2 === 0 ? 'a-' : 'b-', null));
    await found(async () => all.every(({ places }) => places.at(-1) === 9));
    await found(async () => log.open.length === 1);
    for (let n = 10; n < 30; n += 1) log.append(n % 2 === 0 ? 'a-1' : 'b-1');
    await found(async () => all.every(({ seen }) => seen.length === 15));
    expect(log.open).toEqual([['']]);
    for (const [index, { seen }] of all.entries()) {
      expect(seen).toEqual(positions(0, 30).filter((position) => position % 2 === index % 2));
    }
  });

  it('is not held by a slow follower, which misses nothing and gets nothing twice', async () => {
    const log = createLog();
    const { subscribe } = createSharedSubscription(log.source);
    log.append('a-1');
    const [fast, slow] = [collect(subscribe, 'a-', null), collect(subscribe, 'a-', null)];
    await found(async () => fast.seen.length === 1 && slow.seen.length === 1);
    slow.hold();
    for (let n = 1; n < 60; n += 1) {
      log.append('a-1');
      await found(async () => fast.seen.length === n + 1);
    }
    expect(slow.seen.length).toBeLessThan(10);
    slow.letGo();
    await found(async () => slow.seen.length === 60);
    expect(slow.seen).toEqual(positions(0, 60));
    expect(fast.seen).toEqual(positions(0, 60));
    await found(async () => log.open.length === 1);
  });

  it('tells who has caught up how far that is, though nothing was for it', async () => {
    const log = createLog();
    const { subscribe } = createSharedSubscription(log.source);
    log.append('a-1');
    const first = collect(subscribe, 'a-', 0);
    await found(async () => log.open.length === 1);
    log.append('b-1');
    log.append('b-1');
    await found(async () => first.places.at(-1) === 2);
    expect(first.seen).toEqual([]);
  });

  it('that fails for good leaves each follower one of its own', async () => {
    const log = createLog();
    const { subscribe } = createSharedSubscription(log.source);
    const [one, other] = [collect(subscribe, 'a-', null), collect(subscribe, 'b-', null)];
    await found(async () => log.open.length === 1);
    log.fail(new Error('refused'));
    for (let n = 0; n < 10; n += 1) log.append(n % 2 === 0 ? 'a-1' : 'b-1');
    await found(async () => one.seen.length === 5 && other.seen.length === 5);
    expect(one.seen).toEqual([0, 2, 4, 6, 8]);
    expect(other.seen).toEqual([1, 3, 5, 7, 9]);
  });

  it('ends with its last follower', async () => {
    const log = createLog();
    const { subscribe } = createSharedSubscription(log.source);
    const [one, other] = [collect(subscribe, 'a-', null), collect(subscribe, 'b-', null)];
    log.append('a-1');
    await found(async () => one.seen.length === 1);
    one.end();
    other.end();
    await Promise.all([one.ended, other.ended]);
    await found(async () => log.open.length === 0);
  });
});
