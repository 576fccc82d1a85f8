/** The one writer of an event store's file: groups of appends, each group one durable transaction. */
import { inTransaction, openDatabase, type Database } from '#sqlite/database';
import type { ExpectedRevision } from './event-store.js';

// Streams have integer ids: text keys cost ten times as much on append.
export const eventSchema = `
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
    metadata TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS events_by_stream ON events (stream, revision);
`;

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

/** `held`: whether other connections of this process read the file. */
export function openWriter(file: string, held: 'alone' | 'shared'): SqliteWriter {
  const database = openDatabase({ file, durability: 'full', schema: eventSchema, held });
  const findStream = database.prepare('SELECT id, revision FROM streams WHERE name = ?');
  const addStream = database.prepare('INSERT INTO streams (name, revision) VALUES (?, ?)');
  const setRevision = database.prepare('UPDATE streams SET revision = ? WHERE id = ?');
  const addEvent = database.prepare(
    'INSERT INTO events (stream, revision, id, type, version, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
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
    let position = 0;
    for (const [index, { id, type, version, data, metadata }] of events.entries()) {
      const row = addEvent.run(streamId, first + index, id, type, version, data, metadata);
      position = Number(row.lastInsertRowid);
    }
    return { ok: true, revision: last, firstPosition: position - events.length + 1, position, isRepeat: false };
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
        throw error;
      }
    },
    close: () => database.close(),
  };
}
