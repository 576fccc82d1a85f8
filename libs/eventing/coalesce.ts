/** Coalesces the batches of a subscription: a follower that is far behind handles many events at a time. */
import { sleep } from '#concurrency/sleep';
import type { EventBatch, EventStore, Subscription } from '#event-store/event-store';

export interface CoalescedBatch extends EventBatch {
  /** No further events were available when it was handed over. */
  readonly isLast: boolean;
}

/** A batch this small is live traffic, not a backlog: it is handed over at once. */
const smallBatch = 100;
/** No more batches in one, so that followers of the same events stay close together and the event loop gets its turns. */
const maxCoalesced = 8;

const noMore = Symbol('noMore');

/** One turn of the event loop: events that the store has in memory come sooner. */
const turn = (): Promise<typeof noMore> => new Promise((resolve) => setImmediate(resolve, noMore));

export interface BatchDelay {
  /** How long to collect events before the next batch, by how long the last one took, the position it came to and its events. */
  ms(tookMs: number, position: number, count: number): number;
  /** Calls `end` where a delay that has begun is to end, until what it returns is called. */
  onCut?(end: () => void): () => void;
  /** So many events end a delay too. Absent: a backlog does. */
  readonly mostEvents?: number;
}

export const noDelay: BatchDelay = { ms: () => 0 };

/**
 * The events of a subscription in larger batches. Leaving the loop ends the subscription, although the next batch is awaited
 * already. With a delay, the first event comes at once, and what comes during the delay as one batch.
 */
export async function* coalesced(
  eventStore: Pick<EventStore, 'subscribe'>,
  { signal, ...subscription }: Subscription,
  delay: BatchDelay = noDelay,
): AsyncGenerator<CoalescedBatch, void> {
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  const source = eventStore.subscribe({ ...subscription, signal: either })[Symbol.asyncIterator]();
  const pull = (): Promise<IteratorResult<EventBatch>> => {
    const pulled = source.next();
    // Awaited in the next round, or never where the reader leaves.
    pulled.catch(() => undefined);
    return pulled;
  };
  const { mostEvents } = delay;
  let next = pull();
  let endDelay = (): void => undefined;
  either.addEventListener('abort', () => endDelay(), { once: true });

  /** One batch is awaited and no more, since each costs several turns of every follower; a large one is a backlog. */
  const untilBacklog = async (over: Promise<void>): Promise<void> => {
    next.then(
      (pulled) => {
        if (pulled.done === true || pulled.value.events.length >= smallBatch) endDelay();
      },
      () => endDelay(),
    );
    await over;
  };

  /** What comes is counted, batch by batch, where a delay is so long that it may be too much. */
  const untilCount = async (over: Promise<void>, most: number): Promise<EventBatch[]> => {
    const held: EventBatch[] = [];
    const isOver = over.then((): typeof noMore => noMore);
    for (let count = 0; count < most;) {
      const more = await Promise.race([isOver, next]);
      if (more === noMore || more.done === true) return held;
      held.push(more.value);
      count += more.value.events.length;
      next = pull();
    }
    endDelay();
    return held;
  };

  /** The batches that were taken during the delay. */
  const delayed = async (ms: number): Promise<EventBatch[]> => {
    const ending = new AbortController();
    endDelay = () => ending.abort();
    const stopListening = delay.onCut?.(endDelay);
    const over = sleep(ms, ending.signal);
    const held = mostEvents === undefined ? [] : await untilCount(over, mostEvents);
    if (mostEvents === undefined) await untilBacklog(over);
    stopListening?.();
    return held;
  };

  let wasDelayed = false;
  let held: EventBatch[] = [];
  try {
    for (;;) {
      const parts = held.map(({ events }) => events);
      let position = held.at(-1)?.position;
      held = [];
      if (position === undefined) {
        const first = await next;
        if (first.done === true) return;
        parts.push(first.value.events);
        ({ position } = first.value);
        next = pull();
      }
      let count = parts.reduce((sum, { length }) => sum + length, 0);
      let isLast = true;
      const most = wasDelayed ? (mostEvents ?? smallBatch) : smallBatch;
      while (wasDelayed || count >= smallBatch) {
        const more = await Promise.race([next, turn()]);
        if (more === noMore || more.done === true) break;
        isLast = parts.length < maxCoalesced || count < most;
        if (!isLast) break;
        parts.push(more.value.events);
        count += more.value.events.length;
        ({ position } = more.value);
        next = pull();
      }
      const handedOverMs = performance.now();
      const [only] = parts;
      const events = parts.length === 1 && only !== undefined ? only : parts.flat();
      yield { events, position, isLast };
      // Events in memory come without a turn of the loop: a follower with a backlog would starve everything else.
      if (!isLast) await turn();
      const delayMs = delay.ms(performance.now() - handedOverMs, position, count);
      wasDelayed = delayMs > 0;
      if (wasDelayed) held = await delayed(delayMs);
    }
  } finally {
    leaving.abort();
    await source.return?.();
  }
}
