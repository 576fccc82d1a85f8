/** Reads a stream into state. */
import type { Fold } from '#contracts/event';
import { decodeEvent } from './codec.js';
import type { DomainEvent } from './decider.js';
import type { EventStore, RecordedEvent } from '#event-store/event-store';

export interface FoldOptions {
  /** The last revision that counts. */
  readonly to?: number;
  /** `last`: every event of the stream carries the whole state, so the last one is enough. */
  readonly from?: 'all' | 'last';
}

export interface FoldedStream<State> {
  readonly state: State;
  /** What was folded, oldest first; none where the stream does not exist. */
  readonly recorded: readonly RecordedEvent[];
}

async function load(store: EventStore, stream: string, { from = 'all', to = Infinity }: FoldOptions) {
  if (from === 'last') {
    const last = await store.readLast(stream);
    return last === null ? [] : [last];
  }
  const recorded: RecordedEvent[] = [];
  for await (const event of store.read(stream)) {
    if (event.revision > to) break;
    recorded.push(event);
  }
  return recorded;
}

/** The state that a stream's events lead to. Rejects as the event store does, and with `UnreadableEvent`. */
export async function foldStream<State, Event extends DomainEvent>(
  store: EventStore,
  fold: Fold<State, Event>,
  stream: string,
  options: FoldOptions = {},
): Promise<FoldedStream<State>> {
  const recorded = await load(store, stream, options);
  let state = fold.initial;
  for (const event of recorded) state = fold.evolve(state, decodeEvent<Event>(event));
  return { state, recorded };
}
