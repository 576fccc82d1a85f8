/** The one writer of an event store's file: groups of appends, each group one durable transaction. */
import { createLru } from '#concurrency/lru';
import { foldLogBack, inTransaction, openDatabase, type Database, type DatabaseOptions } from '#sqlite/database';
import { createEventChain, erasedData, isErasedData, macOfBeginning } from './event-chain.js';
import type { ExpectedRevision } from './event-store.js';

// Streams have integer ids: text keys cost ten times as much on append.
const eventSchema = `
  CREATE TABLE IF NOT EXISTS streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    first INTEGER NOT NULL DEFAULT 0,
    link TEXT,
    mac TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    stream INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    data TEXT NOT NULL,
    metadata TEXT NOT NULL,
    mac TEXT
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS events_by_stream ON events (stream, revision);
`;

/** Columns that files of earlier versions lack. `first`: the first revision that is there. */
const addedColumns = [
  ['events', 'mac', 'TEXT'],
  ['streams', 'first', 'INTEGER NOT NULL DEFAULT 0'],
  ['streams', 'link', 'TEXT'],
  ['streams', 'mac', 'TEXT'],
] as const;

/** Opens the file of an event store; one of an earlier version gets the columns that it lacks. */
export function openEvents(options: Omit<DatabaseOptions, 'durability' | 'schema'>): Database {
  const database = openDatabase({ ...options, durability: 'full', schema: eventSchema });
  const missing = () =>
    addedColumns.filter(([table, column]) =>
      database
        .prepare(`PRAGMA table_info(${table})`)
        .all()
        .every(({ name }) => name !== column),
    );
  try {
    if (missing().length > 0) {
      inTransaction(database, () => {
        // Another connection may have added them meanwhile.
        for (const [table, column, type] of missing())
          database.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
      });
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Events that are dropped in one transaction, between which appends have their turn, and pages given back behind it. */
const droppedAtOnce = 250;
const pagesGivenBack = 200;
/** MACs of the last events of streams that were written to lately. */
const macsKept = 20_000;

/** An append as it crosses to a thread: JSON is written by who has the values. */
export interface WrittenAppend {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** Written only if the append before it was: of several whose order counts, all but the first. */
  readonly isBehind?: boolean;
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly version: number;
    readonly data: string;
    readonly metadata: string;
  }[];
}

export type WriteResult =
  /** Positions of the first and last event; `isRepeat`: they were there already. */
  | {
      readonly ok: true;
      readonly revision: number;
      readonly firstPosition: number;
      readonly position: number;
      readonly isRepeat: boolean;
    }
  | { readonly ok: false; readonly revision: number | null };

export interface SqliteWriter {
  readonly database: Database;
  /** All of the group is on disk when it returns; it throws where nothing is. */
  writeGroup(appends: readonly WrittenAppend[]): WriteResult[];
  /** Drops some of a stream's events below the revision, on disk when it returns; whether there are more. Throws where it could not. */
  truncateSome(stream: string, before: number): boolean;
  /** What the events of the stream up to this revision hold is in no file any more when it returns. */
  erase(stream: string, upTo: number): void;
  close(): void;
}

export interface WriterOptions {
  readonly file: string;
  /** Whether other connections of this process read the file. */
  readonly held: 'alone' | 'shared';
  /** Of the installation. null: events are written without a MAC. */
  readonly secretKey: Uint8Array | null;
}

export function openWriter({ file, held, secretKey }: WriterOptions): SqliteWriter {
  const database = openEvents({ file, held });
  // A page that is divided keeps no copy of what it held: a later `erase` would not know of it.
  database.exec('PRAGMA secure_delete = FAST');
  const chain = secretKey === null ? null : createEventChain(secretKey);
  const findStream = database.prepare('SELECT id, revision, first FROM streams WHERE name = ?');
  const dropEvents = database.prepare('DELETE FROM events WHERE stream = ? AND revision < ?');
  const setFirst = database.prepare('UPDATE streams SET first = ?, link = ?, mac = ? WHERE id = ?');
  const addStream = database.prepare('INSERT INTO streams (name, revision) VALUES (?, ?)');
  const setRevision = database.prepare('UPDATE streams SET revision = ? WHERE id = ?');
  const addEvent = database.prepare(
    'INSERT INTO events (position, stream, revision, id, type, version, data, metadata, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const dataUpTo = database.prepare(
    'SELECT e.position, e.data FROM events e JOIN streams s ON s.id = e.stream WHERE s.name = ? AND e.revision <= ?',
  );
  const setData = database.prepare('UPDATE events SET data = ? WHERE position = ?');
  const lastPosition = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  const macAt = database.prepare('SELECT mac FROM events WHERE stream = ? AND revision = ?');
  const idsFrom = database.prepare(
    'SELECT id, position FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?',
  );

  /** A repeated append (its answer was lost) finds its own events where it wanted to put them. */
  const repeated = (streamId: number, { events, expected }: WrittenAppend): WriteResult | null => {
    const from = expected === 'none' ? 0 : expected + 1;
    const stored = idsFrom.all(streamId, from, events.length) as unknown as { id: string; position: number }[];
    const same = stored.length === events.length && stored.every(({ id }, index) => id === events[index]?.id);
    if (!same) return null;
    const [first] = stored;
    const last = stored.at(-1);
    return {
      ok: true,
      revision: from + events.length - 1,
      firstPosition: first?.position ?? 0,
      position: last?.position ?? 0,
      isRepeat: true,
    };
  };

  /** Whether the append before this one was taken, in the group before too. */
  let isTaken = false;
  /** Of the last event; null where it must be read, as after a transaction that was rolled back. */
  let position: number | null = null;
  /** By stream: of its last event. */
  const macs = createLru<number, string>(macsKept);

  const macBefore = (streamId: number, revision: number): string | null =>
    macs.get(streamId) ?? (macAt.get(streamId, revision)?.['mac'] as string | null | undefined) ?? null;

  const write = (append: WrittenAppend): WriteResult => {
    const { stream, events, expected, isBehind = false } = append;
    const known = findStream.get(stream) as { id: number; revision: number } | undefined;
    const revision = known?.revision ?? null;
    if (isBehind && !isTaken) return { ok: false, revision };
    if (revision !== (expected === 'none' ? null : expected)) {
      return (known === undefined ? null : repeated(known.id, append)) ?? { ok: false, revision };
    }
    const first = (revision ?? -1) + 1;
    const last = first + events.length - 1;
    const streamId = known?.id ?? Number(addStream.run(stream, last).lastInsertRowid);
    if (known !== undefined) setRevision.run(last, streamId);
    let mac = chain === null || revision === null ? null : macBefore(streamId, revision);
    const before = position ?? Number(lastPosition.get()?.['seq'] ?? 0);
    for (const [index, event] of events.entries()) {
      const { id, type, version, data, metadata } = event;
      const place = { stream, revision: first + index, position: before + index + 1 };
      mac = chain === null ? null : chain.macOf({ ...event, ...place }, mac);
      addEvent.run(place.position, streamId, place.revision, id, type, version, data, metadata, mac);
    }
    if (mac !== null) macs.set(streamId, mac);
    position = before + events.length;
    return { ok: true, revision: last, firstPosition: before + 1, position, isRepeat: false };
  };

  return {
    database,
    writeGroup(appends) {
      try {
        return inTransaction(database, () =>
          appends.map((append) => {
            const result = write(append);
            isTaken = result.ok;
            return result;
          }),
        );
      } catch (error) {
        isTaken = false;
        position = null;
        macs.clear();
        throw error;
      }
    },
    truncateSome(stream, before) {
      const known = findStream.get(stream) as { id: number; revision: number; first: number } | undefined;
      if (known === undefined) return false;
      // The last event stays: it is what the stream goes on from.
      const end = Math.min(before, known.revision);
      const first = Math.min(end, known.first + droppedAtOnce);
      if (first <= known.first) return false;
      inTransaction(database, () => {
        const link = (macAt.get(known.id, first - 1)?.['mac'] as string | null | undefined) ?? null;
        const mac = chain === null ? null : macOfBeginning(chain, { stream, revision: first, link });
        dropEvents.run(known.id, first);
        setFirst.run(first, link, mac, known.id);
      });
      // Pages go back to the file system a few at a time; without `auto_vacuum` this does nothing, and they are used again.
      database.exec(`PRAGMA incremental_vacuum(${pagesGivenBack})`);
      return first < end;
    },

    erase(stream, upTo) {
      const rows = dataUpTo.all(stream, upTo) as unknown as { position: number; data: string }[];
      // Freed bytes are overwritten, and the log, which still has them, is folded back and cut.
      database.exec('PRAGMA secure_delete = ON');
      inTransaction(database, () => {
        for (const { position: at, data } of rows) if (!isErasedData(data)) setData.run(erasedData(data), at);
      });
      foldLogBack(database);
    },

    close: () => database.close(),
  };
}
