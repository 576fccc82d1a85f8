/** Events that are not in memory any more, read in stretches for those who catch up: side by side they read and parse them once. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '#runtime/json';
import type { Database } from '#sqlite/database';
import type { EventBatch, EventMetadata, RecordedEvent } from './event-store.js';

/** Positions in a stretch. */
const stretchLength = 500;
const stretchesKept = 16;
/** Who is ahead of others by more than this waits for them, before what they need next is forgotten. */
const aheadLimit = stretchesKept / 2;
/** But not for one that is held up by something else. */
const patienceTurns = 100;
/** After so many everybody else has a turn: who wants few or none of them is not held up by anything. */
const stretchesATurn = 8;
/** Kinds with so few events are looked up instead of being looked for in all there is. */
const fewEvents = 2_000;

export interface EventRow {
  readonly position: number;
  readonly name: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly data: string;
  readonly metadata: string;
}

export const eventColumns = 'e.position, s.name, e.revision, e.id, e.type, e.version, e.data, e.metadata';

/** The same row in the order of these columns: without their names it costs less to read. */
export type EventValues = readonly [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  version: number,
  data: string,
  metadata: string,
];

export function toRecorded(row: EventRow): RecordedEvent {
  return {
    stream: row.name,
    revision: row.revision,
    position: row.position,
    id: row.id,
    type: row.type,
    version: row.version,
    data: JSON.parse(row.data) as JsonObject,
    metadata: JSON.parse(row.metadata) as EventMetadata,
  };
}

/** Parsed for the first who wants it, the same for all others. */
interface OlderEvent {
  readonly stream: string;
  readonly kind: string;
  readonly position: number;
  /** As it was read, until it is parsed. */
  row: EventRow | null;
  event: RecordedEvent | null;
}

interface Stretch {
  readonly events: readonly OlderEvent[];
  readonly kinds: ReadonlySet<string>;
}

/** The beginning of a stream's name, up to its first hyphen: what nearly all subscribers ask for. */
const kindOf = (stream: string): string => stream.slice(0, stream.indexOf('-') + 1);

function toOlder(row: EventRow): OlderEvent {
  return { stream: row.name, kind: kindOf(row.name), position: row.position, row, event: null };
}

function parsed(older: OlderEvent): RecordedEvent {
  if (older.event !== null) return older.event;
  if (older.row === null) throw new Error('an older event is neither read nor parsed');
  older.event = toRecorded(older.row);
  older.row = null;
  return older.event;
}

/** Which streams a subscriber wants. */
export interface Wanted {
  /** null: asked for by more or less than kinds. */
  readonly kinds: ReadonlySet<string> | null;
  has(stream: string): boolean;
}

export function wantedOf(prefixes: readonly string[]): Wanted {
  const areKinds = prefixes.every((prefix) => prefix !== '' && kindOf(prefix) === prefix);
  return {
    kinds: areKinds ? new Set(prefixes) : null,
    has: (stream) => prefixes.some((prefix) => stream.startsWith(prefix)),
  };
}

/** A subscriber that catches up. */
export interface OlderReader {
  /** What is wanted behind the position, and up to where that is all. */
  read(position: number): Promise<EventBatch>;
  /** It has caught up, or wants no more. */
  leave(): void;
}

export interface OlderEvents {
  join(wanted: Wanted): OlderReader;
}

/** `end`: every event up to there is an older one. */
export function createOlderEvents(database: Database, end: () => number): OlderEvents {
  const readStretch = database.prepare(
    `SELECT ${eventColumns} FROM events e CROSS JOIN streams s ON s.id = e.stream WHERE e.position > ? AND e.position <= ? ORDER BY e.position`,
  );
  const streamsOfKind = database.prepare(
    `SELECT id, revision FROM streams WHERE name >= ? AND name < ? LIMIT ${fewEvents + 1}`,
  );
  const readOfStream = database.prepare(
    `SELECT ${eventColumns} FROM events e JOIN streams s ON s.id = e.stream WHERE e.stream = ? AND e.position > ? AND e.position <= ?`,
  );
  /** By number; those used last stand last. */
  const stretches = new Map<number, Stretch>();
  /** Who reads now, and which stretch. */
  const readers = new Map<OlderReader, number>();

  /** Positions from `number * stretchLength + 1` on. */
  const stretchAt = (number: number): Stretch => {
    const known = stretches.get(number);
    if (known !== undefined) {
      stretches.delete(number);
      stretches.set(number, known);
      return known;
    }
    const first = number * stretchLength;
    const until = Math.min(first + stretchLength, end());
    const events = (readStretch.all(first, until) as unknown as EventRow[]).map(toOlder);
    const found = { events, kinds: new Set(events.map(({ kind }) => kind)) };
    // One that is still to be filled is read anew.
    if (until < first + stretchLength) return found;
    stretches.set(number, found);
    for (const oldest of stretches.keys()) {
      if (stretches.size <= stretchesKept) break;
      stretches.delete(oldest);
    }
    return found;
  };

  /** Everything behind the position at once, where that is little; null where it is much. */
  const fewBehind = (position: number, { kinds }: Wanted): EventBatch | null => {
    if (kinds === null) return null;
    // Behind the hyphen comes the full stop.
    const streams = [...kinds].flatMap((kind) => streamsOfKind.all(kind, `${kind.slice(0, -1)}.`));
    const count = streams.reduce((sum, { revision }) => sum + Number(revision) + 1, 0);
    if (count > fewEvents) return null;
    const until = end();
    const events = streams
      .flatMap(({ id }) => readOfStream.all(Number(id), position, until) as unknown as EventRow[])
      .toSorted((one, other) => one.position - other.position)
      .map(toRecorded);
    return { events, position: until };
  };

  const isAheadOfOthers = (number: number): boolean => {
    for (const other of readers.values()) {
      if (other < number - aheadLimit && other >= number - stretchesKept) return true;
    }
    return false;
  };

  const wantedAt = (position: number, wanted: Wanted): EventBatch => {
    const number = Math.floor(position / stretchLength);
    const stretch = stretchAt(number);
    const { kinds } = wanted;
    const events: RecordedEvent[] = [];
    if (kinds === null || [...kinds].some((kind) => stretch.kinds.has(kind))) {
      for (const older of stretch.events) {
        const isWanted = kinds === null ? wanted.has(older.stream) : kinds.has(older.kind);
        if (isWanted && older.position > position) events.push(parsed(older));
      }
    }
    return { events, position: Math.min((number + 1) * stretchLength, end()) };
  };

  return {
    join(wanted) {
      const reader: OlderReader = {
        async read(position) {
          const few = readers.has(reader) ? null : fewBehind(position, wanted);
          if (few !== null) return few;
          const number = Math.floor(position / stretchLength);
          readers.set(reader, number);
          for (let turns = 0; turns < patienceTurns && isAheadOfOthers(number); turns += 1) await nextTurn();
          if (number % stretchesATurn === 0) await nextTurn();
          return wantedAt(position, wanted);
        },
        leave() {
          readers.delete(reader);
          if (readers.size === 0) stretches.clear();
        },
      };
      return reader;
    },
  };
}
