/** Everything that is in an event store now, from the first event to the last, and then an end. */
import { withTimeoutOr } from '#concurrency/timeout';
import { AppError, unavailable } from '#runtime/errors';
import type { EventArchive, EventBatch, RecordedEvent, Subscription } from './event-store.js';

export interface ReadThroughOptions {
  /** Behind this position; null begins with the first event. */
  readonly after?: number | null;
  /** Up to this position; what came later is left out. `lastPosition` tells it. */
  readonly end: number | null;
  /** A store that brings nothing for so long is given up. */
  readonly silenceMs?: number;
}

const defaultSilenceMs = 60_000;

/** Something in a store that it cannot hand over: bytes that are no event. */
export class StoreUnreadable extends Error {
  constructor(cause: unknown) {
    super(`something in it cannot be read (${String(cause)})`, { cause });
    this.name = 'StoreUnreadable';
  }
}

/** An outage stays one. */
function refuse(error: unknown): never {
  throw error instanceof AppError ? error : new StoreUnreadable(error);
}

/**
 * The last batch has the position `end`. Rejects with `event_store_unavailable` where the store is silent for too long, with
 * `StoreUnreadable` where it cannot go on.
 */
export async function* readThrough<Event extends { readonly position: number } = RecordedEvent>(
  store: { subscribe(subscription: Subscription): AsyncIterable<EventBatch<Event>> },
  { after = null, end, silenceMs = defaultSilenceMs }: ReadThroughOptions,
): AsyncGenerator<EventBatch<Event>> {
  if (end === null || (after ?? -1) >= end) return;
  const ending = new AbortController();
  const batches = store.subscribe({ prefixes: [''], after, signal: ending.signal })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await withTimeoutOr(batches.next().catch(refuse), silenceMs, null);
      if (next === null || next.done === true) {
        const why = next === null ? `brought nothing for ${silenceMs / 1_000} s` : 'was closed while it was read';
        throw unavailable('event_store_unavailable', `The event store ${why}.`);
      }
      const { events, position } = next.value;
      if (position < end) {
        yield next.value;
        continue;
      }
      yield { events: events.filter((event) => event.position <= end), position: end };
      return;
    }
  } finally {
    ending.abort();
    // Not waited for: a store that is silent may be so here too.
    void batches.return?.(undefined)?.catch(() => undefined);
  }
}

/** All events that are there now, in memory: for specs and small histories. */
export async function everyEvent(store: Pick<EventArchive, 'subscribe' | 'lastPosition'>): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of readThrough(store, { end: await store.lastPosition() })) events.push(...batch.events);
  return events;
}
