/** The one writer of an event store's file: groups of appends, each group one durable transaction. */
import { createLru } from '#concurrency/lru';
import { inTransaction, openDatabase, type Database, type DatabaseOptions } from '#sqlite/database';
import { createEventChain } from './event-chain.js';
import type { ExpectedRevision } from './event-store.js';

// Streams have integer ids: text keys cost ten times as much on append.
const eventSchema = `
  CREATE TABLE IF NOT EXISTS streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL
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

/** Opens the file of an event store; one of a version that made no MACs gets their column. */
export function openEvents(options: Omit<DatabaseOptions, 'durability' | 'schema'>): Database {
  const database = openDatabase({ ...options, durability: 'full', schema: eventSchema });
  const columns = (): unknown[] =>
    database
      .prepare('PRAGMA table_info(events)')
      .all()
      .map(({ name }) => name);
  try {
    if (!columns().includes('mac')) {
      inTransaction(database, () => {
        // Another connection may have added it meanwhile.
        if (!columns().includes('mac')) database.exec('ALTER TABLE events ADD COLUMN mac TEXT');
      });
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

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
  const chain = secretKey === null ? null : createEventChain(secretKey);
  const findStream = database.prepare('SELECT id, revision FROM streams WHERE name = ?');
  const addStream = database.prepare('INSERT INTO streams (name, revision) VALUES (?, ?)');
  const setRevision = database.prepare('UPDATE streams SET revision = ? WHERE id = ?');
  const addEvent = database.prepare(
    'INSERT INTO events (position, stream, revision, id, type, version, data, metadata, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
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
    close: () => database.close(),
  };
}
