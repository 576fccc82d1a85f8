/** The one writer of an event store's file: groups of appends, each group one durable transaction. */
import { createLru } from '#concurrency/lru';
import type { JsonObject } from '#runtime/json';
import { foldLogBack, inTransaction, openDatabase, type Database, type DatabaseOptions } from '#sqlite/database';
import { createEventChain, erasedData, isErasedData, macOfBeginning } from './event-chain.js';
import type { ExpectedRevision } from './event-store.js';
import { idOfPacked, macOfPacked, packedKinds, packEvent, repackWith, unpackEvent } from './sqlite-packing.js';
import { createNames } from './sqlite-rows.js';

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
    mac TEXT,
    kind INTEGER,
    packed BLOB
  ) STRICT;
  CREATE TABLE IF NOT EXISTS names (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS events_by_stream ON events (stream, revision);
`;

/** Columns that files of earlier versions lack. `first`: the first revision that is there; `kind`: the type of a packed event. */
const addedColumns = [
  ['events', 'mac', 'TEXT'],
  ['events', 'kind', 'INTEGER'],
  ['events', 'packed', 'BLOB'],
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

/** Numbers of the names that events share; new ones are written in the caller's transaction. */
function createNumbers(database: Database) {
  const find = database.prepare('SELECT id FROM names WHERE name = ?');
  const add = database.prepare('INSERT INTO names (name) VALUES (?)');
  const known = new Map<string, number>();
  return {
    of(name: string): number {
      const found = known.get(name);
      if (found !== undefined) return found;
      const number = Number(find.get(name)?.['id'] ?? add.run(name).lastInsertRowid);
      known.set(name, number);
      return number;
    },
    /** The transaction was rolled back. */
    forget: (): void => known.clear(),
  };
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
  /** Beginnings of the names of streams whose events are packed; those of checks where it is absent. */
  readonly packed?: readonly string[];
}

interface MacRow {
  readonly mac: string | null;
  readonly packed: Uint8Array | null;
}

const macOf = ({ mac, packed }: MacRow): string | null => (packed === null ? mac : macOfPacked(packed));

export function openWriter({ file, held, secretKey, packed = packedKinds }: WriterOptions): SqliteWriter {
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
  const addPacked = database.prepare(
    "INSERT INTO events (position, stream, revision, id, type, version, data, metadata, kind, packed) VALUES (?, ?, ?, '', '', ?, '', '', ?, ?)",
  );
  const numberOf = createNumbers(database);
  const nameOf = createNames(database);
  const dataUpTo = database.prepare(
    'SELECT e.position, e.data, e.packed FROM events e JOIN streams s ON s.id = e.stream WHERE s.name = ? AND e.revision <= ?',
  );
  const setData = database.prepare('UPDATE events SET data = ? WHERE position = ?');
  const setPacked = database.prepare('UPDATE events SET packed = ? WHERE position = ?');
  const lastPosition = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  const macAt = database.prepare('SELECT mac, packed FROM events WHERE stream = ? AND revision = ?');
  const idsFrom = database.prepare(
    'SELECT id, packed, position FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?',
  );

  /** A repeated append (its answer was lost) finds its own events where it wanted to put them. */
  const repeated = (streamId: number, { events, expected }: WrittenAppend): WriteResult | null => {
    const from = expected === 'none' ? 0 : expected + 1;
    const rows = idsFrom.all(streamId, from, events.length) as unknown as (MacRow & { id: string; position: number })[];
    const stored = rows.map((row) => ({ ...row, id: row.packed === null ? row.id : idOfPacked(row.packed) }));
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

  const storedMac = (streamId: number, revision: number): string | null => {
    const row = macAt.get(streamId, revision) as unknown as MacRow | undefined;
    return row === undefined ? null : macOf(row);
  };

  const macBefore = (streamId: number, revision: number): string | null =>
    macs.get(streamId) ?? storedMac(streamId, revision);

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
    const isPacked = packed.some((kind) => stream.startsWith(kind));
    for (const [index, event] of events.entries()) {
      const { id, type, version, data, metadata } = event;
      const place = { stream, revision: first + index, position: before + index + 1 };
      mac = chain === null ? null : chain.macOf({ ...event, ...place }, mac);
      const whole = isPacked ? packEvent({ ...event, stream, mac }, numberOf.of) : null;
      if (whole === null)
        addEvent.run(place.position, streamId, place.revision, id, type, version, data, metadata, mac);
      else addPacked.run(place.position, streamId, place.revision, version, numberOf.of(type), whole);
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
        numberOf.forget();
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
        const link = storedMac(known.id, first - 1);
        const mac = chain === null ? null : macOfBeginning(chain, { stream, revision: first, link });
        dropEvents.run(known.id, first);
        setFirst.run(first, link, mac, known.id);
      });
      // Pages go back to the file system a few at a time; without `auto_vacuum` this does nothing, and they are used again.
      database.exec(`PRAGMA incremental_vacuum(${pagesGivenBack})`);
      return first < end;
    },

    erase(stream, upTo) {
      const rows = dataUpTo.all(stream, upTo) as unknown as (MacRow & { position: number; data: string })[];
      // Freed bytes are overwritten, and the log, which still has them, is folded back and cut.
      database.exec('PRAGMA secure_delete = ON');
      inTransaction(database, () => {
        for (const { position: at, data, packed: whole } of rows) {
          const text = whole === null ? data : JSON.stringify(unpackEvent(whole, stream, nameOf).data);
          if (isErasedData(text)) continue;
          if (whole === null) setData.run(erasedData(text), at);
          else setPacked.run(repackWith(whole, stream, JSON.parse(erasedData(text)) as JsonObject), at);
        }
      });
      foldLogBack(database);
    },

    close: () => database.close(),
  };
}
