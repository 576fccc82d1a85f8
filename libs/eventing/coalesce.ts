/** Batches of events put together as long as more is there at once: who is far behind handles much at a time. */
import { sleep } from '#concurrency/sleep';
import type { EventBatch, EventStore, Subscription } from '#event-store/event-store';

export interface GatheredBatch extends EventBatch {
  /** Nothing more was there when it was handed over. */
  readonly isLast: boolean;
}

/** A batch this small is what just happened, not what is to be caught up with: it is handed over at once. */
const smallBatch = 100;
/** Not more of them together: who follows the same events beside shall be about as far, and others want their turn. */
const gatheredBatches = 8;

const noMore = Symbol('noMore');

/** One turn of the event loop: what a store has at hand it gives sooner. */
const turn = (): Promise<typeof noMore> => new Promise((resolve) => setImmediate(resolve, noMore));

/** How long a reader leaves others alone after a batch that took it so long. */
export type Rest = (tookMs: number) => number;

export const restNever: Rest = () => 0;

/**
 * What a subscription hands over. Who leaves the loop ends the subscription, though the next batch is waited for already.
 * A reader that rests is handed the first event at once, and then what comes during its rest as one batch.
 */
export async function* gathered(
  eventStore: Pick<EventStore, 'subscribe'>,
  { signal, ...subscription }: Subscription,
  rest: Rest = restNever,
): AsyncGenerator<GatheredBatch, void> {
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  const source = eventStore.subscribe({ ...subscription, signal: either })[Symbol.asyncIterator]();
  const pull = (): Promise<IteratorResult<EventBatch>> => {
    const pulled = source.next();
    // Awaited in the next round, or by nobody where the reader leaves.
    pulled.catch(() => undefined);
    return pulled;
  };
  let next = pull();
  let resting: Promise<typeof noMore> | null = null;
  try {
    for (;;) {
      const first = await next;
      if (first.done === true) return;
      const parts = [first.value.events];
      let { position } = first.value;
      let count = first.value.events.length;
      let isLast = true;
      next = pull();
      while (resting !== null || count >= smallBatch) {
        const more = await Promise.race([next, resting ?? turn()]);
        if (more === noMore || more.done === true) break;
        isLast = parts.length < gatheredBatches || count < smallBatch;
        if (!isLast) break;
        parts.push(more.value.events);
        count += more.value.events.length;
        position = more.value.position;
        next = pull();
      }
      const handedOverMs = performance.now();
      yield { events: parts.length === 1 ? first.value.events : parts.flat(), position, isLast };
      // What is at hand comes without a turn of the loop: who catches up with much would keep everybody else waiting.
      if (!isLast) await turn();
      const restMs = rest(performance.now() - handedOverMs);
      if (restMs > 0) {
        const ended = (): typeof noMore => {
          resting = null;
          return noMore;
        };
        resting = sleep(restMs, either).then(ended);
      }
    }
  } finally {
    leaving.abort();
    await source.return?.();
  }
}
