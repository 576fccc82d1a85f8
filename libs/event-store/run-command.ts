/** The one write path: load, evolve, decide, append at the revision that was read. */
import { reject, unavailable } from '#runtime/errors';
import { decodeEvent, encodeEvents, eventIdOf } from './codec.js';
import type { Decider, DomainEvent } from './decider.js';
import type { EventMetadata, EventStore, RecordedEvent } from './event-store.js';

export interface CommandRun<Command> {
  readonly stream: string;
  readonly command: Command;
  /** The same id again writes the same event ids, and nothing where the stream is read whole and holds them. */
  readonly commandId: string;
  readonly metadata: EventMetadata;
  /** `last`: every event of the stream tells the whole state, so the last one is enough. */
  readonly from: 'all' | 'last';
  /** If-Match: refuse with `stale_revision` where the stream is elsewhere. */
  readonly expectedRevision?: number | null;
}

export interface CommandOutcome<State, Event> {
  readonly state: State;
  /** Of the stream after the command; -1 where it does not exist. */
  readonly revision: number;
  /** Of the last event written; null where nothing was. */
  readonly position: number | null;
  readonly events: readonly Event[];
}

/** Writers of one stream at once are rare; more rounds than this mean that something loops. */
const attempts = 10;

async function load(store: EventStore, stream: string, from: 'all' | 'last'): Promise<readonly RecordedEvent[]> {
  if (from === 'all') return Array.fromAsync(store.read(stream));
  const last = await store.readLast(stream);
  return last === null ? [] : [last];
}

/** Rejects with what `decide` rejects with, `stale_revision`, or `event_store_unavailable`. */
export async function runCommand<State, Command, Event extends DomainEvent>(
  store: EventStore,
  decider: Decider<State, Command, Event>,
  { stream, command, commandId, metadata, from, expectedRevision = null }: CommandRun<Command>,
): Promise<CommandOutcome<State, Event>> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const recorded = await load(store, stream, from);
    const revision = recorded.at(-1)?.revision ?? -1;
    let state = decider.initial;
    for (const event of recorded) state = decider.evolve(state, decodeEvent<Event>(event));
    // A command that was carried out once stays so, whatever came after it.
    const isDone = recorded.some(({ id }) => id === eventIdOf(commandId, 0));
    if (isDone) return { state, revision, position: null, events: [] };
    if (expectedRevision !== null && expectedRevision !== revision) {
      throw reject('stale_revision', `The revision is ${revision}, not ${expectedRevision}: read it again and repeat.`);
    }
    const events = decider.decide(command, state);
    if (events.length === 0) return { state, revision, position: null, events };
    const appended = await store.append(
      stream,
      encodeEvents(events, { commandId, metadata }),
      revision < 0 ? 'none' : revision,
    );
    if (!appended.ok) continue;
    for (const event of events) state = decider.evolve(state, event);
    return { state, revision: appended.revision, position: appended.position, events };
  }
  throw unavailable('too_many_writers', `${stream} is being changed by others; try again.`);
}
