/** Event store in one SQLite file: appends are grouped into durable transactions, subscribers follow what was committed. */
import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { unavailable } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';
import { openDatabase, type Database } from '#sqlite/database';
import type {
  AppendResult,
  EventArchive,
  EventBatch,
  EventMetadata,
  RecordedEvent,
  StreamAppend,
  Subscription,
} from './event-store.js';
import { createAppendQueue, inThread, type GroupWriter, type WaitingAppend } from './sqlite-groups.js';
import { eventSchema, openWriter, type WriteResult } from './sqlite-writer.js';

/** How many of the newest events stay in memory for subscribers that keep up, so that they parse nothing. */
const recentLimit = 4_096;
const batchLimit = 500;
/** Older events are read in stretches of so many positions, of which some stay: who catches up side by side reads them once. */
const stretchLength = 500;
const stretchesKept = 16;
/** Who wants none of them passes over so many before others have a turn. */
const stretchesPassed = 8;

interface EventRow {
  readonly position: number;
  readonly name: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly data: string;
  readonly metadata: string;
}

function toRecorded(row: EventRow): RecordedEvent {
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

/** An older event: parsed for the first who wants it, the same for all others. */
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
interface Wanted {
  /** null: asked for by more or less than kinds. */
  readonly kinds: ReadonlySet<string> | null;
  has(stream: string): boolean;
}

function wantedOf(prefixes: readonly string[]): Wanted {
  const areKinds = prefixes.every((prefix) => prefix !== '' && kindOf(prefix) === prefix);
  return {
    kinds: areKinds ? new Set(prefixes) : null,
    has: (stream) => prefixes.some((prefix) => stream.startsWith(prefix)),
  };
}

interface OpenFile {
  readonly reader: Database;
  readonly writer: GroupWriter;
  close(): Promise<void>;
}

/** Nobody else can open it: reader and writer are one connection. */
function openInMemory(): OpenFile {
  const { database, writeGroup, close } = openWriter(':memory:', 'alone');
  const writer: GroupWriter = { write: async (appends) => writeGroup(appends), close: async () => close() };
  return { reader: database, writer, close: async () => close() };
}

/** Read here, written in a thread. A file of its own, held alone, keeps other processes out. */
function openOnDisk(file: string, checked: boolean): OpenFile {
  const lock = openDatabase({ file: `${file}.lock`, durability: 'normal', schema: '' });
  try {
    const reader = openDatabase({ file, durability: 'full', schema: eventSchema, held: 'shared', checked });
    const writer = inThread(file);
    return {
      reader,
      writer,
      async close() {
        await writer.close();
        reader.close();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** `file`: a path or `:memory:`. Throws `DatabaseInUse` where another process holds the file, `DatabaseDamaged`. */
export function createSqliteEventStore(
  file: string,
  { checked = false }: { readonly checked?: boolean } = {},
): EventArchive {
  const opened = file === ':memory:' ? openInMemory() : openOnDisk(file, checked);
  const database = opened.reader;
  const columns = 'e.position, s.name, e.revision, e.id, e.type, e.version, e.data, e.metadata';
  const readStream = database.prepare(
    `SELECT ${columns} FROM events e JOIN streams s ON s.id = e.stream WHERE s.name = ? AND e.revision >= ? ORDER BY e.revision LIMIT ${batchLimit}`,
  );
  const readLastOf = database.prepare(
    `SELECT ${columns} FROM streams s JOIN events e ON e.stream = s.id AND e.revision = s.revision WHERE s.name = ?`,
  );
  const readStretch = database.prepare(
    `SELECT ${columns} FROM events e CROSS JOIN streams s ON s.id = e.stream WHERE e.position > ? AND e.position <= ? ORDER BY e.position`,
  );
  const commits = new EventEmitter().setMaxListeners(0);
  let recent: RecordedEvent[] = [];
  /** Every event behind this position is in `recent`. */
  let recentAfter =
    (database.prepare('SELECT max(position) AS last FROM events').get()?.['last'] as number | null) ?? 0;
  let lastPosition = recentAfter;
  let closed = false;

  const committed = (group: readonly WaitingAppend[], results: readonly WriteResult[]): void => {
    for (const [index, result] of results.entries()) {
      const waiting = group[index];
      if (waiting === undefined || !result.ok || result.isRepeat) continue;
      const { events, append } = waiting;
      const firstRevision = result.revision - events.length + 1;
      for (const [offset, event] of events.entries()) {
        recent.push({
          ...event,
          stream: append.stream,
          revision: firstRevision + offset,
          position: result.firstPosition + offset,
        });
      }
    }
    lastPosition = recent.at(-1)?.position ?? lastPosition;
    if (recent.length > 2 * recentLimit) {
      const dropped = recent.length - recentLimit;
      recentAfter = recent[dropped - 1]?.position ?? recentAfter;
      recent = recent.slice(dropped);
    }
    commits.emit('commit');
  };

  const queue = createAppendQueue(opened.writer, committed);

  const firstBehind = (position: number): number => {
    let low = 0;
    let high = recent.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((recent[middle]?.position ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  /** By number of the stretch; those used last stand last. */
  const stretches = new Map<number, Stretch>();
  /** Subscribers that read older events now. */
  let behind = 0;

  /** Positions from `number * stretchLength + 1` on. */
  const stretchAt = (number: number): Stretch => {
    const known = stretches.get(number);
    const first = number * stretchLength;
    if (known !== undefined) {
      stretches.delete(number);
      stretches.set(number, known);
      return known;
    }
    const until = Math.min(first + stretchLength, recentAfter);
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

  const olderBehind = (position: number, wanted: Wanted): EventBatch => {
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
    return { events, position: Math.min((number + 1) * stretchLength, recentAfter) };
  };

  const recentBehind = (position: number, wanted: Wanted): EventBatch => {
    const from = firstBehind(position);
    const passed = recent.slice(from, from + batchLimit);
    return {
      events: passed.filter(({ stream }) => wanted.has(stream)),
      position: passed.at(-1)?.position ?? lastPosition,
    };
  };

  /** Throws on what JSON cannot hold. */
  const encode = ({ stream, events, expected }: StreamAppend, isBehind: boolean): WaitingAppend => {
    const written = events.map(({ id, type, version, data, metadata }) => ({
      id,
      type,
      version,
      data: JSON.stringify(data),
      metadata: JSON.stringify(metadata),
    }));
    return { append: { stream, expected, isBehind, events: written }, events };
  };

  const submit = async (waiting: WaitingAppend): Promise<AppendResult> => {
    if (closed) throw unavailable('event_store_unavailable', 'The event store is closed; try again after the restart.');
    try {
      const result = await queue.submit(waiting);
      if (!result.ok) return result;
      const { revision, position } = result;
      return { ok: true, revision, position };
    } catch (error) {
      throw unavailable(
        'event_store_unavailable',
        'The event store could not be written; nothing was stored.',
        5,
        error,
      );
    }
  };

  return {
    append: async (stream, events, expected) => submit(encode({ stream, events, expected }, false)),

    async appendInOrder(appends) {
      const waiting = appends.map((append, index) => encode(append, index > 0));
      // The queue keeps their order, and none is written behind one that was not; together they share few transactions.
      const submitted = waiting.map(submit);
      await Promise.allSettled(submitted);
      const taken: AppendResult[] = [];
      for (const result of submitted) {
        const answer = await result;
        taken.push(answer);
        if (!answer.ok) break;
      }
      return taken;
    },

    lastPosition: async () => (lastPosition === 0 ? null : lastPosition),

    async *read(stream, fromRevision = 0) {
      for (let next = fromRevision; ;) {
        const rows = readStream.all(stream, next) as unknown as EventRow[];
        for (const row of rows) yield toRecorded(row);
        if (rows.length < batchLimit) return;
        next = (rows.at(-1)?.revision ?? next) + 1;
      }
    },

    async readLast(stream) {
      const row = readLastOf.get(stream) as unknown as EventRow | undefined;
      return row === undefined ? null : toRecorded(row);
    },

    async *subscribe({ prefixes, after, signal }: Subscription): AsyncGenerator<EventBatch> {
      const wanted = wantedOf(prefixes);
      let position = after ?? 0;
      let isCaughtUp = false;
      let isBehind = false;
      const setBehind = (value: boolean): void => {
        if (value !== isBehind) behind += value ? 1 : -1;
        isBehind = value;
        if (behind === 0) stretches.clear();
      };
      try {
        while (!signal.aborted && !closed) {
          setBehind(position < recentAfter);
          if (position >= lastPosition) {
            await once(commits, 'commit', { signal }).catch(() => undefined);
            continue;
          }
          const batch = isBehind ? olderBehind(position, wanted) : recentBehind(position, wanted);
          ({ position } = batch);
          // Once at the end of what is there a subscriber learns so, even if nothing of it was for him.
          const isFirstEnd = !isCaughtUp && position >= lastPosition;
          if (isFirstEnd) isCaughtUp = true;
          if (batch.events.length > 0 || isFirstEnd) yield { events: batch.events, position };
          else if (isBehind && (position / stretchLength) % stretchesPassed === 0) await nextTurn();
        }
      } finally {
        setBehind(false);
      }
    },

    async close() {
      if (closed) return;
      closed = true;
      await queue.drained();
      commits.emit('commit');
      await opened.close();
    },
  };
}
