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
  const { mostEvents: mostDelayed = smallBatch } = delay;
  let next = pull();
  let endDelay = (): void => undefined;
  either.addEventListener('abort', () => endDelay(), { once: true });
  /** One batch is awaited meanwhile and no more, since each costs several turns of every follower; a large one is a backlog. */
  const delayed = async (ms: number): Promise<void> => {
    const ending = new AbortController();
    endDelay = () => ending.abort();
    const stopListening = delay.onCut?.(endDelay);
    next.then(
      (pulled) => {
        if (pulled.done === true || pulled.value.events.length >= smallBatch) ending.abort();
      },
      () => ending.abort(),
    );
    await sleep(ms, ending.signal);
    stopListening?.();
  };
  let wasDelayed = false;
  try {
    for (;;) {
      const first = await next;
      if (first.done === true) return;
      const parts = [first.value.events];
      let { position } = first.value;
      let count = first.value.events.length;
      let isLast = true;
      next = pull();
      while (wasDelayed || count >= smallBatch) {
        const more = await Promise.race([next, turn()]);
        if (more === noMore || more.done === true) break;
        isLast = parts.length < maxCoalesced || count < (delaying === null ? smallBatch : mostDelayed);
        if (!isLast) break;
        parts.push(more.value.events);
        count += more.value.events.length;
        position = more.value.position;
        next = pull();
      }
      const handedOverMs = performance.now();
      yield { events: parts.length === 1 ? first.value.events : parts.flat(), position, isLast };
      // Events in memory come without a turn of the loop: a follower with a backlog would starve everything else.
      if (!isLast) await turn();
      const delayMs = delay.ms(performance.now() - handedOverMs, position, count);
      wasDelayed = delayMs > 0;
      if (wasDelayed) await delayed(delayMs);
    }
  } finally {
    leaving.abort();
    await source.return?.();
  }
}
