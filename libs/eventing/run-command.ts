/** The one write path: load, evolve, decide, append at the revision that was read. */
import { createKeyedQueue, type KeyedQueue } from '#concurrency/keyed-queue';
import { AppError, reject, unavailable } from '#runtime/errors';
import { encodeEvents, eventIdOf } from './codec.js';
import type { Fold } from '#contracts/event';
import type { Decider, DomainEvent } from './decider.js';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import { foldStream } from './fold-stream.js';
import { foldRemembered, type Folded } from './remembered-folds.js';

export interface CommandRun<Command> {
  readonly stream: string;
  readonly command: Command;
  /** The same id again writes the same event ids, and nothing where the stream is read whole and holds them. */
  readonly commandId: string;
  readonly metadata: EventMetadata;
  /** `last`: every event of the stream carries the whole state, so the last one is enough. */
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

/** Commands of one process queue up per stream, so a conflict means another process; more attempts than this mean a loop. */
const maxAttempts = 25;

/**
 * Commands on one stream run one after the other: at the same time, all but one would have read in vain. Where the store does
 * not answer one of them, those behind it fail at once instead of each finding out for itself.
 */
const queues = new WeakMap<EventStore, KeyedQueue>();

function queueOf(store: EventStore): KeyedQueue {
  const queue =
    queues.get(store) ??
    createKeyedQueue((error) => error instanceof AppError && error.reason === 'event_store_unavailable');
  queues.set(store, queue);
  return queue;
}

/** Rejects with what `decide` rejects with, `stale_revision`, `too_many_writers` or `event_store_unavailable`. */
export function runCommand<State, Command, Event extends DomainEvent>(
  store: EventStore,
  decider: Decider<State, Command, Event>,
  run: CommandRun<Command>,
): Promise<CommandOutcome<State, Event>> {
  return queueOf(store).run(run.stream, () => execute(store, decider, run));
}

async function load<State, Event extends DomainEvent>(
  store: EventStore,
  fold: Fold<State, Event>,
  { stream, from }: Pick<CommandRun<unknown>, 'stream' | 'from'>,
): Promise<Folded<State>> {
  if (from === 'all') return foldRemembered(store, fold, stream);
  const { state, recorded } = await foldStream(store, fold, stream, { from });
  return { state, revision: recorded.at(-1)?.revision ?? -1, ids: new Set(recorded.map(({ id }) => id)) };
}

async function execute<State, Command, Event extends DomainEvent>(
  store: EventStore,
  decider: Decider<State, Command, Event>,
  { stream, command, commandId, metadata, from, expectedRevision = null }: CommandRun<Command>,
): Promise<CommandOutcome<State, Event>> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { state, revision, ids } = await load(store, decider, { stream, from });
    // A command that was executed once stays so, whatever came after it.
    if (ids.has(eventIdOf(commandId, 0))) return { state, revision, position: null, events: [] };
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
    const after = events.reduce((current, event) => decider.evolve(current, event), state);
    return { state: after, revision: appended.revision, position: appended.position, events };
  }
  throw unavailable('too_many_writers', `${stream} is being changed by others; try again.`);
}
