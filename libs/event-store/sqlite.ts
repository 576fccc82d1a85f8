/** Event store in one SQLite file: appends are grouped into durable transactions, subscribers follow what was committed. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { unavailable } from '#runtime/errors';
import { openDatabase, type Database } from '#sqlite/database';
import { createCommitWaiters } from './commit-waiters.js';
import type { AppendResult, EventArchive, EventBatch, StreamAppend, Subscription } from './event-store.js';
import { createAppendQueue, inThread, type GroupWriter, type WaitingAppend } from './sqlite-append-queue.js';
import { RecentEvents } from './recent-events.js';
import { createOlderEvents, kindOf, wantedOf } from './sqlite-catch-up.js';
import { createRowReader, eventColumns, sizeOf, type EventRow } from './sqlite-rows.js';
import { createStoredHistory } from './sqlite-stored.js';
import { openEvents, openWriter, type WriteResult } from './sqlite-writer.js';

const batchLimit = 500;
/** Characters that are read of a stream at once, about. */
const readCharactersLimit = 4_000_000;
/** A reader of a stream may want no more than one event of it, wherever that stands. */
const firstLimit = 16;

export interface SqliteEventStoreOptions {
  /** Check the file first, as after a process that did not end in order. */
  readonly checked?: boolean;
  /** Called before that, once nobody else can have the file. */
  readonly onCheck?: () => void;
  /** Of the installation: what is appended gets a MAC of it. Without one, as to copy or look, none. */
  readonly secretKey?: Uint8Array | null;
  /** Beginnings of the names of streams whose events are packed; those of checks where it is absent. */
  readonly packed?: readonly string[];
}

interface OpenFile {
  readonly reader: Database;
  readonly writer: GroupWriter;
  close(): Promise<void>;
}

/** Nobody else can open it: reader and writer are one connection. */
function openInMemory({ secretKey = null, packed }: SqliteEventStoreOptions): OpenFile {
  const { database, writeGroup, truncateSome, erase, close } = openWriter({
    file: ':memory:',
    held: 'alone',
    secretKey,
    ...(packed !== undefined && { packed }),
  });
  const writer: GroupWriter = {
    write: async (appends) => writeGroup(appends),
    truncateSome: async (stream, before) => truncateSome(stream, before),
    erase: async (stream, upTo) => erase(stream, upTo),
    close: async () => close(),
  };
  return { reader: database, writer, close: async () => close() };
}

/** Read here, written in a thread. A file of its own, held alone, keeps other processes out. */
function openOnDisk(file: string, options: SqliteEventStoreOptions): OpenFile {
  const { checked = false, onCheck, secretKey = null, packed } = options;
  const lock = openDatabase({ file: `${file}.lock`, durability: 'normal', schema: '' });
  try {
    if (checked) onCheck?.();
    const reader = openEvents({ file, held: 'shared', checked });
    const writer = inThread({ file, secretKey, ...(packed !== undefined && { packed }) });
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
export function createSqliteEventStore(file: string, options: SqliteEventStoreOptions = {}): EventArchive {
  const opened = file === ':memory:' ? openInMemory(options) : openOnDisk(file, options);
  const database = opened.reader;
  const rowReader = createRowReader(database);
  const { toRecorded } = rowReader;
  const readStream = database.prepare(
    `SELECT ${eventColumns} FROM events e JOIN streams s ON s.id = e.stream WHERE s.name = ? AND e.revision >= ? ORDER BY e.revision LIMIT ?`,
  );
  const readLastOf = database.prepare(
    `SELECT ${eventColumns} FROM streams s JOIN events e ON e.stream = s.id AND e.revision = s.revision WHERE s.name = ?`,
  );
  const waiters = createCommitWaiters();
  const stored = database.prepare('SELECT max(position) AS last FROM events').get();
  const recent = new RecentEvents((stored?.['last'] as number | null) ?? 0);
  let closed = false;

  const committed = (group: readonly WaitingAppend[], results: readonly WriteResult[]): void => {
    const kinds = new Set<string>();
    for (const [index, result] of results.entries()) {
      const waiting = group[index];
      if (waiting === undefined || !result.ok || result.isRepeat) continue;
      const { events, append } = waiting;
      const { stream } = append;
      const firstRevision = result.revision - events.length + 1;
      kinds.add(kindOf(stream));
      for (const [offset, event] of events.entries()) {
        const [revision, position] = [firstRevision + offset, result.firstPosition + offset];
        recent.add({ ...event, stream, revision, position }, append.events[offset]?.data.length ?? 0);
      }
    }
    recent.trim();
    waiters.committed(kinds, recent.lastPosition);
  };

  const queue = createAppendQueue(opened.writer, committed);

  const older = createOlderEvents(database, rowReader, () => recent.after);

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

    stored: createStoredHistory(database),

    async truncate(stream, before) {
      if (closed)
        throw unavailable('event_store_unavailable', 'The event store is closed; try again after the restart.');
      try {
        while (await opened.writer.truncateSome(stream, before)) await nextTurn();
      } catch (error) {
        throw unavailable('event_store_unavailable', `The events of ${stream} could not be dropped.`, 5, error);
      }
    },

    async erase(stream, upTo) {
      try {
        await opened.writer.erase(stream, upTo);
      } catch (error) {
        throw unavailable('event_store_unavailable', 'What is to be erased could not be; try again.', 5, error);
      }
      // What is in memory is read anew from the file.
      recent.clear();
      older.forget();
    },

    lastPosition: async () => (recent.lastPosition === 0 ? null : recent.lastPosition),

    async *read(stream, fromRevision = 0) {
      const last = recent.lastOf(stream);
      if (last !== undefined && fromRevision >= last.revision) {
        if (fromRevision === last.revision) yield last;
        return;
      }
      for (let [next, limit] = [fromRevision, firstLimit]; ;) {
        const rows = readStream.all(stream, next, limit) as unknown as EventRow[];
        for (const row of rows) yield toRecorded(row);
        if (rows.length < limit) return;
        const average = rows.reduce((sum, row) => sum + sizeOf(row), 0) / rows.length;
        limit = Math.min(batchLimit, Math.max(1, Math.floor(readCharactersLimit / average)));
        next = (rows.at(-1)?.revision ?? next) + 1;
      }
    },

    async readLast(stream) {
      const known = recent.lastOf(stream);
      if (known !== undefined) return known;
      const row = readLastOf.get(stream) as unknown as EventRow | undefined;
      return row === undefined ? null : toRecorded(row);
    },

    async *subscribe({ prefixes, after, signal }: Subscription): AsyncGenerator<EventBatch> {
      const wanted = wantedOf(prefixes);
      const wants = (stream: string): boolean => wanted.has(stream);
      const reader = older.join(wanted);
      const waiter = waiters.join(signal);
      let position = after ?? 0;
      let isCaughtUp = false;
      try {
        while (!signal.aborted && !closed) {
          const isBehind = position < recent.after;
          if (!isBehind) reader.leave();
          if (position >= recent.lastPosition) {
            // Once at the end of what is there a subscriber learns so, even if nothing of it was for him.
            position = await waiter.next(position, isCaughtUp ? wanted.kinds : null);
            continue;
          }
          const batch = isBehind ? await reader.read(position) : recent.behind(position, batchLimit, wants);
          ({ position } = batch);
          const isFirstEnd = !isCaughtUp && position >= recent.lastPosition;
          if (isFirstEnd) isCaughtUp = true;
          if (batch.events.length > 0 || isFirstEnd) yield { events: batch.events, position };
        }
      } finally {
        reader.leave();
        waiter.leave();
      }
    },

    async close() {
      if (closed) return;
      closed = true;
      await queue.drained();
      waiters.wakeAll();
      await opened.close();
    },
  };
}
