/**
 * One subscription for all followers of a process: each event comes in and is decoded once, and is handed to every follower in
 * order and at its own pace. Who is further behind than what is kept in memory has a subscription of its own until it has
 * caught up, so a slow one holds nobody.
 */
import { sleep } from '#concurrency/sleep';
import type { Logger } from '#runtime/logger';
import type { EventBatch, RecordedEvent, Subscription } from './event-store.js';
import { RecentEvents, recentLimits, type RecentLimits } from './recent-events.js';

/** An event, and how many characters it has as it is stored. */
export interface SizedEvent {
  readonly position: number;
  readonly event: RecordedEvent;
  readonly characters: number;
}

export interface SubscriptionSource {
  /** A subscription of its own; comes back by itself after every drop, and throws what another try would not mend. */
  follow(subscription: Pick<Subscription, 'prefixes' | 'after' | 'signal'>): AsyncIterable<EventBatch<SizedEvent>>;
  /** As the port's. */
  lastPosition(): Promise<number | null>;
  readonly logger: Logger;
  readonly limits?: RecentLimits;
}

const batchLimit = 500;
/** How often a place without events is handed over: stored checkpoints stay near the end, and the stores get a rest. */
const emptyBatchEveryMs = 5_000;
const restartAfterMs = 1_000;
/** Waiting looks again now and then, whatever happens. */
const longestWaitMs = 60_000;
/** Before the first event. */
const beginning = -1;

/** What came in for all, while anybody follows. */
interface Shared {
  readonly recent: RecentEvents;
  /** Everything up to here came in. */
  passed: number;
  /** Of followers who wait for more. */
  readonly waiting: Set<() => void>;
  isLive: boolean;
  readonly ending: AbortController;
}

export function createSharedSubscription({ follow, lastPosition, logger, limits = recentLimits }: SubscriptionSource) {
  let shared: Shared | null = null;
  let followers = 0;

  const tell = (of: Shared): void => {
    for (const wake of of.waiting) wake();
  };

  /** Until more came in, the time is up (null: there is none) or the signal aborts. */
  const more = async (of: Shared, signal: AbortSignal, milliseconds: number | null): Promise<void> => {
    const waking = new AbortController();
    const wake = (): void => waking.abort();
    of.waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
    await sleep(milliseconds ?? longestWaitMs, waking.signal);
    signal.removeEventListener('abort', wake);
    of.waiting.delete(wake);
  };

  const run = async (of: Shared, after: number | null): Promise<void> => {
    const { signal } = of.ending;
    try {
      for await (const { events, position } of follow({ prefixes: [''], after, signal })) {
        for (const { event, characters } of events) of.recent.add(event, characters);
        of.recent.trim();
        of.passed = Math.max(of.passed, position);
        tell(of);
      }
    } catch (error) {
      logger.warn(
        { error: String(error) },
        'the subscription that all followers share ended; each has its own until it is back',
      );
    }
    of.isLive = false;
    tell(of);
    if (shared !== of) return;
    await sleep(restartAfterMs, signal);
    if (shared === of) shared = null;
  };

  /** Of now; begun at what is the newest event by then. Rejects where the store is away: then there is none. */
  let starting: Promise<Shared> | null = null;
  const current = (): Promise<Shared> => {
    if (shared !== null) return Promise.resolve(shared);
    starting ??= (async () => {
      try {
        const after = await lastPosition();
        const begun: Shared = {
          recent: new RecentEvents(after ?? beginning, limits),
          passed: after ?? beginning,
          waiting: new Set(),
          isLive: true,
          ending: new AbortController(),
        };
        if (followers > 0) {
          shared = begun;
          void run(begun, after);
        }
        return begun;
      } finally {
        starting = null;
      }
    })();
    return starting;
  };

  const isCovered = (of: Shared | null, place: number): of is Shared =>
    of !== null && of.isLive && place >= of.recent.after;

  /** From a place that memory covers on, until it does not any more. */
  async function* handOver(
    of: Shared,
    wants: (stream: string) => boolean,
    from: number,
    signal: AbortSignal,
  ): AsyncGenerator<EventBatch> {
    let place = from;
    let toldAt = from;
    // The first time at once: who has just caught up is to be told so.
    let toldAtMs = 0;
    while (!signal.aborted && isCovered(of, place)) {
      const next = of.recent.behind(place, batchLimit, wants);
      const isLast = next.position >= of.recent.lastPosition;
      const reached = Math.max(place, next.position, isLast ? of.passed : next.position);
      if (next.events.length > 0) {
        [place, toldAt, toldAtMs] = [reached, reached, Date.now()];
        yield { events: next.events, position: reached };
        continue;
      }
      place = reached;
      if (!isLast) continue;
      const dueInMs = toldAtMs + emptyBatchEveryMs - Date.now();
      if (place > toldAt && dueInMs <= 0) {
        [toldAt, toldAtMs] = [place, Date.now()];
        yield { events: [], position: place };
        continue;
      }
      await more(of, signal, place > toldAt ? dueInMs : null);
    }
  }

  return {
    /** As the port's `subscribe`. */
    async *subscribe({ prefixes, after, signal }: Subscription): AsyncGenerator<EventBatch> {
      const wants = (stream: string): boolean => prefixes.some((prefix) => stream.startsWith(prefix));
      let place = after ?? beginning;
      followers += 1;
      try {
        while (!signal.aborted) {
          const of = await current().catch(() => null);
          if (isCovered(of, place)) {
            for await (const batch of handOver(of, wants, place, signal)) {
              place = batch.position;
              yield batch;
            }
            continue;
          }
          const own = { prefixes, after: place === beginning ? null : place, signal };
          for await (const { events, position } of follow(own)) {
            place = Math.max(place, position);
            yield { events: events.map(({ event }) => event), position };
            if (isCovered(shared, place)) break;
          }
        }
      } finally {
        followers -= 1;
        if (followers === 0) {
          shared?.ending.abort();
          shared = null;
        }
      }
    },
  };
}
