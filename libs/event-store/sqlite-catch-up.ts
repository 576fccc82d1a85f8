/** Events that are not in memory any more, read in chunks by subscribers that catch up: together they read and parse them once. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '#sqlite/database';
import type { EventBatch, RecordedEvent } from './event-store.js';
import { eventColumns, rowOf, sizeOf, type EventRow, type EventValues, type RowReader } from './sqlite-rows.js';

/** Positions in a chunk. */
const chunkLength = 500;
const chunksKept = 16;
/** A reader ahead of others by more than this waits for them, before what they need next is dropped. */
const aheadLimit = chunksKept / 2;
/** But not for one that something else delays. */
const patienceTurns = 100;
/** After so many the event loop has a turn: a reader that wants few or none of them waits for nothing else. */
const chunksATurn = 8;
/** Kinds with so few events are looked up instead of being searched for in all events. */
const fewEvents = 2_000;
/** Rows that are handed over at once: one by one costs half as much again, all at once may be too much to hold. */
const rowsAtOnce = 32;
/** Characters of events that are read at once, and that are kept in all. */
const readLimit = 4_000_000;
const keptLimit = 32_000_000;

/** Parsed for the first reader that wants it, the same for all others. */
interface OlderEvent {
  readonly stream: string;
  readonly kind: string;
  readonly position: number;
  /** As it was read, until it is parsed. */
  row: EventRow | null;
  event: RecordedEvent | null;
}

interface Chunk {
  readonly events: readonly OlderEvent[];
  readonly kinds: ReadonlySet<string>;
  /** Up to where they are all. */
  readonly until: number;
  readonly characters: number;
}

/** The beginning of a stream's name, up to its first hyphen: what nearly all subscribers ask for. */
export const kindOf = (stream: string): string => stream.slice(0, stream.indexOf('-') + 1);

function toOlder(row: EventRow): OlderEvent {
  return { stream: row.name, kind: kindOf(row.name), position: row.position, row, event: null };
}

function parsed(older: OlderEvent, toRecorded: (row: EventRow) => RecordedEvent): RecordedEvent {
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
  /** What was read is read again. */
  forget(): void;
}

/** `end`: every event up to there is an older one. */
export function createOlderEvents(
  database: Database,
  { toRecorded }: Pick<RowReader, 'toRecorded'>,
  end: () => number,
): OlderEvents {
  const readChunk = database.prepare(
    `SELECT ${eventColumns} FROM events e CROSS JOIN streams s ON s.id = e.stream WHERE e.position > ? AND e.position <= ? ORDER BY e.position LIMIT ${rowsAtOnce}`,
  );
  readChunk.setReturnArrays(true);
  const streamsOfKind = database.prepare(
    `SELECT id, revision, first FROM streams WHERE name >= ? AND name < ? LIMIT ${fewEvents + 1}`,
  );
  const readOfStream = database.prepare(
    `SELECT ${eventColumns} FROM events e JOIN streams s ON s.id = e.stream WHERE e.stream = ? AND e.position > ? AND e.position <= ?`,
  );
  /** By number; those used last stand last. */
  const chunks = new Map<number, Chunk>();
  let charactersKept = 0;
  /** The readers, and which chunk each reads. */
  const readers = new Map<OlderReader, number>();

  /** Rows up to `readLimit`, one at least, and up to which position they are all. */
  const readRows = (after: number, end: number): { readonly rows: EventRow[]; until: number; characters: number } => {
    const rows: EventRow[] = [];
    let characters = 0;
    for (let position = after; ;) {
      const some = readChunk.all(position, end) as unknown as EventValues[];
      for (const values of some) {
        const row = rowOf(values);
        rows.push(row);
        characters += sizeOf(row);
        if (characters > readLimit) return { rows, until: row.position, characters };
      }
      const last = some.at(-1);
      if (last === undefined || some.length < rowsAtOnce) return { rows, until: end, characters };
      [position] = last;
    }
  };

  const keep = (number: number, chunk: Chunk): void => {
    chunks.set(number, chunk);
    charactersKept += chunk.characters;
    for (const [oldest, { characters }] of chunks) {
      if (oldest === number || (chunks.size <= chunksKept && charactersKept <= keptLimit)) break;
      chunks.delete(oldest);
      charactersKept -= characters;
    }
  };

  /** Positions from `number * chunkLength + 1` on; where that is too much at once, those behind `position`. */
  const chunkAt = (number: number, position: number): Chunk => {
    const known = chunks.get(number);
    if (known !== undefined) {
      chunks.delete(number);
      chunks.set(number, known);
      return known;
    }
    const first = number * chunkLength;
    const last = Math.min(first + chunkLength, end());
    let { rows, until, characters } = readRows(first, last);
    // Too much to be kept, and read again by each reader from where it is.
    const isWhole = until === last;
    if (!isWhole) ({ rows, until, characters } = readRows(position, last));
    const events = rows.map(toOlder);
    const chunk = { events, kinds: new Set(events.map(({ kind }) => kind)), until, characters };
    // One that is still to be filled is read anew.
    if (isWhole && last === first + chunkLength) keep(number, chunk);
    return chunk;
  };

  /** Everything behind the position at once, where that is little; null where it is much. */
  const fewBehind = (position: number, { kinds }: Wanted): EventBatch | null => {
    if (kinds === null) return null;
    // Behind the hyphen comes the full stop.
    const streams = [...kinds].flatMap((kind) => streamsOfKind.all(kind, `${kind.slice(0, -1)}.`));
    const count = streams.reduce((sum, { revision, first }) => sum + Number(revision) - Number(first) + 1, 0);
    if (count > fewEvents) return null;
    const until = end();
    const rows: EventRow[] = [];
    let characters = 0;
    for (const { id } of streams) {
      for (const row of readOfStream.iterate(Number(id), position, until) as unknown as Iterable<EventRow>) {
        rows.push(row);
        characters += sizeOf(row);
        if (characters > readLimit) return null;
      }
    }
    const events = rows.toSorted((one, other) => one.position - other.position).map(toRecorded);
    return { events, position: until };
  };

  const isAheadOfOthers = (number: number): boolean => {
    for (const other of readers.values()) {
      if (other < number - aheadLimit && other >= number - chunksKept) return true;
    }
    return false;
  };

  const wantedAt = (position: number, wanted: Wanted): EventBatch => {
    const number = Math.floor(position / chunkLength);
    const chunk = chunkAt(number, position);
    const { kinds } = wanted;
    const events: RecordedEvent[] = [];
    if (kinds === null || [...kinds].some((kind) => chunk.kinds.has(kind))) {
      for (const older of chunk.events) {
        const isWanted = kinds === null ? wanted.has(older.stream) : kinds.has(older.kind);
        if (isWanted && older.position > position) events.push(parsed(older, toRecorded));
      }
    }
    return { events, position: chunk.until };
  };

  const forget = (): void => {
    chunks.clear();
    charactersKept = 0;
  };

  return {
    forget,
    join(wanted) {
      const reader: OlderReader = {
        async read(position) {
          const few = readers.has(reader) ? null : fewBehind(position, wanted);
          if (few !== null) return few;
          const number = Math.floor(position / chunkLength);
          readers.set(reader, number);
          for (let turns = 0; turns < patienceTurns && isAheadOfOthers(number); turns += 1) await nextTurn();
          if (number % chunksATurn === 0) await nextTurn();
          return wantedAt(position, wanted);
        },
        leave() {
          readers.delete(reader);
          if (readers.size > 0) return;
          forget();
        },
      };
      return reader;
    },
  };
}
