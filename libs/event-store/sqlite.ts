/** Event store in one SQLite file: appends are grouped into durable transactions, subscribers follow what was committed. */
import { EventEmitter, once } from 'node:events';
import { unavailable } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';
import { openDatabase } from '#sqlite/database';
import { createGroupCommit } from '#sqlite/group-commit';
import type {
  AppendResult,
  EventBatch,
  EventMetadata,
  EventStore,
  ExpectedRevision,
  NewEvent,
  RecordedEvent,
  Subscription,
} from './event-store.js';

// Streams have integer ids: text keys cost ten times as much on append.
const schema = `
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

/** How many of the newest events stay in memory for subscribers that keep up, so that they parse nothing. */
const recentLimit = 4_096;
const batchLimit = 500;

interface Append {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expected: ExpectedRevision;
}

interface Written {
  readonly result: AppendResult;
  readonly recorded: readonly RecordedEvent[];
}

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

/** `file`: a path or `:memory:`. Throws `DatabaseInUse` where another process holds the file. */
export function createSqliteEventStore(
  file: string,
  { checked = false }: { readonly checked?: boolean } = {},
): EventStore {
  const database = openDatabase({ file, durability: 'full', schema, checked });
  const findStream = database.prepare('SELECT id, revision FROM streams WHERE name = ?');
  const addStream = database.prepare('INSERT INTO streams (name, revision) VALUES (?, ?)');
  const setRevision = database.prepare('UPDATE streams SET revision = ? WHERE id = ?');
  const addEvent = database.prepare(
    'INSERT INTO events (stream, revision, id, type, version, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const columns = 'e.position, s.name, e.revision, e.id, e.type, e.version, e.data, e.metadata';
  const readStream = database.prepare(
    `SELECT ${columns} FROM events e JOIN streams s ON s.id = e.stream WHERE s.name = ? AND e.revision >= ? ORDER BY e.revision LIMIT ${batchLimit}`,
  );
  const readLastOf = database.prepare(
    `SELECT ${columns} FROM streams s JOIN events e ON e.stream = s.id AND e.revision = s.revision WHERE s.name = ?`,
  );
  const readAll = database.prepare(
    `SELECT ${columns} FROM events e JOIN streams s ON s.id = e.stream WHERE e.position > ? ORDER BY e.position LIMIT ${batchLimit}`,
  );
  const idsFrom = database.prepare(
    'SELECT id, position FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?',
  );

  const commits = new EventEmitter().setMaxListeners(0);
  let recent: RecordedEvent[] = [];
  /** Every event behind this position is in `recent`. */
  let recentAfter =
    (database.prepare('SELECT max(position) AS last FROM events').get()?.['last'] as number | null) ?? 0;
  let lastPosition = recentAfter;
  let closed = false;

  /** A repeated append (its answer was lost) finds its own events where it wanted to put them. */
  const repeated = (streamId: number, { events, expected }: Append): AppendResult | null => {
    const from = expected === 'none' ? 0 : expected + 1;
    const stored = idsFrom.all(streamId, from, events.length) as unknown as { id: string; position: number }[];
    const same = stored.length === events.length && stored.every(({ id }, index) => id === events[index]?.id);
    if (!same) return null;
    return { ok: true, revision: from + events.length - 1, position: stored.at(-1)?.position ?? 0 };
  };

  const write = (append: Append): Written => {
    const { stream, events, expected } = append;
    const known = findStream.get(stream) as { id: number; revision: number } | undefined;
    const revision = known?.revision ?? null;
    if (revision !== (expected === 'none' ? null : expected)) {
      const result = known === undefined ? null : repeated(known.id, append);
      return { result: result ?? { ok: false, revision }, recorded: [] };
    }
    const first = (revision ?? -1) + 1;
    const last = first + events.length - 1;
    const streamId = known?.id ?? Number(addStream.run(stream, last).lastInsertRowid);
    if (known !== undefined) setRevision.run(last, streamId);
    const recorded = events.map((event, index): RecordedEvent => {
      const { id, type, version, data, metadata } = event;
      const at = first + index;
      const row = addEvent.run(streamId, at, id, type, version, JSON.stringify(data), JSON.stringify(metadata));
      return { ...event, stream, revision: at, position: Number(row.lastInsertRowid) };
    });
    return { result: { ok: true, revision: last, position: recorded.at(-1)?.position ?? lastPosition }, recorded };
  };

  const committed = (written: readonly Written[]): void => {
    for (const { recorded } of written) for (const event of recorded) recent.push(event);
    lastPosition = recent.at(-1)?.position ?? lastPosition;
    if (recent.length > 2 * recentLimit) {
      const dropped = recent.length - recentLimit;
      recentAfter = recent[dropped - 1]?.position ?? recentAfter;
      recent = recent.slice(dropped);
    }
    commits.emit('commit');
  };

  const group = createGroupCommit<Append, Written>(database, write, committed);

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

  const eventsBehind = (position: number): readonly RecordedEvent[] => {
    if (position < recentAfter) return (readAll.all(position) as unknown as EventRow[]).map(toRecorded);
    const from = firstBehind(position);
    return recent.slice(from, from + batchLimit);
  };

  return {
    async append(stream, events, expected) {
      if (closed)
        throw unavailable('event_store_unavailable', 'The event store is closed; try again after the restart.');
      try {
        return (await group.submit({ stream, events, expected })).result;
      } catch (error) {
        throw unavailable(
          'event_store_unavailable',
          'The event store could not be written; nothing was stored.',
          5,
          error,
        );
      }
    },

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
      const wanted = ({ stream }: RecordedEvent): boolean => prefixes.some((prefix) => stream.startsWith(prefix));
      let position = after ?? 0;
      while (!signal.aborted && !closed) {
        if (position >= lastPosition) {
          await once(commits, 'commit', { signal }).catch(() => undefined);
          continue;
        }
        const passed = eventsBehind(position);
        position = passed.at(-1)?.position ?? lastPosition;
        const events = passed.filter(wanted);
        if (events.length > 0) yield { events, position };
      }
    },

    async close() {
      if (closed) return;
      group.flush();
      closed = true;
      commits.emit('commit');
      database.close();
    },
  };
}
