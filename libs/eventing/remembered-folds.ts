/**
 * Remembers what the streams that were changed last led to, so that a command reads what came since and not all of a stream
 * again: a task that was edited a thousand times is edited as soon as a new one.
 */
import { createLru, type Lru } from '#concurrency/lru';
import type { Fold } from '#contracts/event';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { charactersOf } from '#runtime/json-size';
import { decodeEvent } from './codec.js';
import type { DomainEvent } from './decider.js';

export interface Folded<State> {
  readonly state: State;
  /** Of the last event; -1 where the stream does not exist. */
  readonly revision: number;
  /** Of all its events. */
  readonly ids: ReadonlySet<string>;
}

interface Remembered {
  readonly state: unknown;
  readonly revision: number;
  readonly lastId: string;
  readonly ids: ReadonlySet<string>;
}

const most = { streams: 2_000, characters: 16_000_000 };
const charactersOfId = 64;

/** Of this process. */
const memories = new WeakMap<EventStore, Lru<string, Remembered>>();

function memoryOf(store: EventStore): Lru<string, Remembered> {
  const known = memories.get(store);
  if (known !== undefined) return known;
  const memory = createLru<string, Remembered>(most.streams, {
    maxWeight: most.characters,
    weightOf: ({ state, ids }) => charactersOf(state) + charactersOfId * ids.size,
  });
  memories.set(store, memory);
  return memory;
}

/** What came behind the last event that was seen, which is read again: null where it is another one now, or gone. */
async function eventsSince(
  store: EventStore,
  stream: string,
  { revision, lastId }: Remembered,
): Promise<readonly RecordedEvent[] | null> {
  const [last, ...since] = await Array.fromAsync(store.read(stream, revision));
  return last?.id === lastId && last.revision === revision ? since : null;
}

/**
 * What a stream leads to, and the events that did. Rejects as the event store does, and with `UnreadableEvent`. A stream is
 * always folded in the same way, by the one aggregate that it belongs to: so its state is remembered by its name alone.
 */
export async function foldRemembered<State, Event extends DomainEvent>(
  store: EventStore,
  fold: Fold<State, Event>,
  stream: string,
): Promise<Folded<State>> {
  const memory = memoryOf(store);
  const known = memory.get(stream);
  const since = known === undefined ? null : await eventsSince(store, stream, known);
  const isContinued = known !== undefined && since !== null;
  const events = isContinued ? since : await Array.fromAsync(store.read(stream));
  const before = isContinued ? known : { state: fold.initial, revision: -1, ids: new Set<string>() };
  let state = before.state as State;
  for (const event of events) state = fold.evolve(state, decodeEvent<Event>(event));
  const last = events.at(-1);
  if (last === undefined) {
    if (!isContinued) memory.delete(stream);
    return { state, revision: before.revision, ids: before.ids };
  }
  const ids = new Set([...before.ids, ...events.map(({ id }) => id)]);
  memory.set(stream, { state, revision: last.revision, lastId: last.id, ids });
  return { state, revision: last.revision, ids };
}
