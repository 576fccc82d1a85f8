/** The double's transaction log in one SQLite file: appends checked and grouped into durable transactions, events kept as they go on the wire. */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { eventMessage, type ProposedEvent } from './messages.ts';

export type Expected = number | 'any' | 'no_stream' | 'stream_exists';

export interface AppendRequest {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly ProposedEvent[];
}

export type AppendAnswer =
  | { readonly ok: true; readonly revision: number; readonly position: number | null }
  /** `current` is null where the stream does not exist. */
  | { readonly ok: false; readonly current: number | null };

/** Records of the server's own, which count as places of the log and are shown to nobody. */
const systemStream = '$epoch-information';
export const isHidden = ({ stream }: StoredEvent): boolean => stream === systemStream;

/** A place in the log: events of a committed write have both halves equal. */
export interface LogPosition {
  readonly commit: number;
  readonly prepare: number;
}

export interface StoredEvent {
  readonly position: number;
  /** Where the next record begins. */
  readonly next: number;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  /** A serialized ReadResp. */
  readonly message: Uint8Array;
}

interface StreamState {
  readonly key: number;
  revision: number;
  /** `$tb`: what readers of the stream are handed begins there. */
  begins: number;
}

interface Waiting {
  readonly request: AppendRequest;
  readonly resolve: (answer: AppendAnswer) => void;
  readonly reject: (error: unknown) => void;
}

const schema = `
  CREATE TABLE IF NOT EXISTS streams (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY, next INTEGER NOT NULL, stream INTEGER NOT NULL, revision INTEGER NOT NULL,
    id TEXT NOT NULL, type TEXT NOT NULL, message BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS events_by_stream ON events (stream, revision);
  CREATE TABLE IF NOT EXISTS truncated (name TEXT PRIMARY KEY, begins INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** A real log begins with records of the server's own. */
const firstPosition = 152;
/** What a record holds beside the event itself, roughly. */
const recordOverheadBytes = 40;
const groupLimit = 512;
/** The server remembers as many of the newest event ids, for appends at no exact revision. */
const rememberedIds = 100_000;
const rememberedStreams = 200_000;
/** Events kept in memory, for every subscription that begins at the first one reads all that there are: tens of megabytes at most. */
const recentLimit = 32_768;

const columns = 'e.position, e.next, s.name AS stream, e.revision, e.type, e.message';

export function openLog(folder: string) {
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(join(folder, 'eventstoredb.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000;');
  database.exec(schema);
  const prepared = (sql: string) => database.prepare(sql);
  const findBegins = prepared('SELECT begins FROM truncated WHERE name = ?');
  const setBegins = prepared('INSERT INTO truncated VALUES (?, ?) ON CONFLICT DO UPDATE SET begins = excluded.begins');
  const findStream = prepared('SELECT key, revision FROM streams WHERE name = ?');
  const insertStream = prepared('INSERT INTO streams (name, revision) VALUES (?, -1)');
  const updateStream = prepared('UPDATE streams SET revision = ? WHERE key = ?');
  const insertEvent = prepared('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)');
  const findId = prepared('SELECT id, position FROM events WHERE stream = ? AND revision = ?');
  const from = `SELECT ${columns} FROM events e JOIN streams s ON s.key = e.stream`;
  const streamForwards = prepared(
    `${from} WHERE e.stream = ? AND e.revision >= ? AND e.revision <= ? ORDER BY e.revision LIMIT ?`,
  );
  const streamBackwards = prepared(`${from} WHERE e.stream = ? AND e.revision <= ? ORDER BY e.revision DESC LIMIT ?`);
  const allForwards = prepared(`${from} WHERE e.position >= ? ORDER BY e.position LIMIT ?`);
  const allBackwards = prepared(`${from} WHERE e.position < ? ORDER BY e.position DESC LIMIT ?`);
  const hasPosition = prepared('SELECT 1 FROM events WHERE position = ?');
  const last = prepared('SELECT position, next FROM events ORDER BY position DESC LIMIT 1').get() as
    { position: number; next: number } | undefined;

  let writerPosition = last?.next ?? firstPosition;
  let lastPosition = last?.position ?? 0;
  const streams = new Map<string, StreamState>();
  const recentIds = new Map<string, { stream: string; revision: number }>();
  let recent: StoredEvent[] = [];
  /** Every event behind this position is in `recent`. */
  let recentAfter = last?.position ?? -1;
  const commits = new EventEmitter().setMaxListeners(0);
  let waiting: Waiting[] = [];
  let scheduled = false;
  let closed = false;

  const streamOf = (name: string): StreamState | null => {
    const known = streams.get(name);
    if (known !== undefined) return known;
    const row = findStream.get(name) as { key: number; revision: number } | undefined;
    if (row === undefined) return null;
    const state = { key: row.key, revision: row.revision, begins: Number(findBegins.get(name)?.['begins'] ?? 0) };
    if (streams.size >= rememberedStreams) streams.clear();
    streams.set(name, state);
    return state;
  };

  const already = (key: number, revision: number): AppendAnswer => {
    const row = findId.get(key, revision) as { position: number } | undefined;
    return { ok: true, revision, position: row?.position ?? null };
  };

  /** null: to be written. Otherwise the answer: a violated expectation, or the first append's own answer. */
  const check = (state: StreamState | null, { stream, expected, events }: AppendRequest): AppendAnswer | null => {
    const current = state === null ? -1 : state.revision;
    const refused: AppendAnswer = { ok: false, current: current < 0 ? null : current };
    if (state === null || current < 0) return expected === 'any' || expected === 'no_stream' ? null : refused;
    if (expected === 'any' || expected === 'stream_exists') {
      let end = -1;
      for (const [index, { id }] of events.entries()) {
        const known = recentIds.get(id);
        if (known === undefined || known.stream !== stream) return index === 0 ? null : refused;
        end = known.revision;
      }
      return end < 0 ? null : already(state.key, end);
    }
    const after = expected === 'no_stream' ? -1 : expected;
    if (after > current) return refused;
    if (after === current) return null;
    if (events.length === 0) return refused;
    for (const [index, { id }] of events.entries()) {
      const row = findId.get(state.key, after + 1 + index) as { id: string } | undefined;
      if (row?.id !== id) return refused;
    }
    return already(state.key, after + events.length);
  };

  const write = (request: AppendRequest, written: StoredEvent[], before: Map<string, number | null>): AppendAnswer => {
    const found = streamOf(request.stream);
    const answer = check(found, request);
    if (answer !== null) return answer;
    if (!before.has(request.stream)) before.set(request.stream, found?.revision ?? null);
    let state = found;
    if (state === null) {
      state = { key: Number(insertStream.run(request.stream).lastInsertRowid), revision: -1, begins: 0 };
      streams.set(request.stream, state);
    }
    if (request.events.length === 0) return { ok: true, revision: state.revision, position: writerPosition };
    for (const event of request.events) {
      const revision = state.revision + 1;
      const position = writerPosition;
      const message = eventMessage(event, request.stream, revision, position);
      const next = position + message.byteLength + recordOverheadBytes;
      insertEvent.run(position, next, state.key, revision, event.id, event.type, message);
      written.push({ position, next, stream: request.stream, revision, type: event.type, message });
      if (recentIds.size >= rememberedIds) recentIds.delete(recentIds.keys().next().value ?? '');
      recentIds.set(event.id, { stream: request.stream, revision });
      state.revision = revision;
      writerPosition = next;
    }
    updateStream.run(state.revision, state.key);
    if (request.stream.startsWith('$$')) truncateBy(request);
    return { ok: true, revision: state.revision, position: written.at(-1)?.position ?? null };
  };

  /** Metadata of a stream say where it begins; its events stay where they are, as before a scavenge. */
  const truncateBy = ({ stream, events }: AppendRequest): void => {
    const name = stream.slice(2);
    const properties: unknown = JSON.parse(Buffer.from(events.at(-1)?.data ?? []).toString());
    const begins: unknown =
      typeof properties === 'object' && properties !== null ? Reflect.get(properties, '$tb') : undefined;
    if (typeof begins !== 'number') return;
    setBegins.run(name, begins);
    streams.delete(name);
  };

  const writeGroup = (): void => {
    scheduled = false;
    const group = waiting.slice(0, groupLimit);
    waiting = waiting.slice(groupLimit);
    if (waiting.length > 0) schedule();
    const written: StoredEvent[] = [];
    const before = new Map<string, number | null>();
    const startedAt = writerPosition;
    try {
      database.exec('BEGIN IMMEDIATE');
      const answers = group.map(({ request }) => write(request, written, before));
      database.exec('COMMIT');
      if (written.length > 0) remember(written);
      for (const [index, { resolve }] of group.entries()) {
        const answer = answers[index];
        if (answer !== undefined) resolve(answer);
      }
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      writerPosition = startedAt;
      for (const name of before.keys()) streams.delete(name);
      for (const { reject } of group) reject(error);
    }
  };

  const remember = (written: readonly StoredEvent[]): void => {
    recent.push(...written);
    lastPosition = written.at(-1)?.position ?? lastPosition;
    if (recent.length > 2 * recentLimit) {
      const dropped = recent.length - recentLimit;
      recentAfter = recent[dropped - 1]?.position ?? recentAfter;
      recent = recent.slice(dropped);
    }
    commits.emit('commit');
  };

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(writeGroup);
  };

  const recentFrom = (position: number): number => {
    let low = 0;
    let high = recent.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((recent[middle]?.position ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const append = (request: AppendRequest): Promise<AppendAnswer> =>
    new Promise((resolve, reject) => {
      if (closed) return reject(new Error('the log is closed'));
      waiting.push({ request, resolve, reject });
      schedule();
    });

  return {
    append,
    /** As a leader does when it begins to lead. */
    writeSystemRecord(): void {
      const empty = { contentType: 'application/json', data: Buffer.from('{}'), metadata: Buffer.from('{}') };
      const event = { id: randomUUID(), type: '$EpochInformation', ...empty };
      append({ stream: systemStream, expected: 'any', events: [event] }).catch(() => undefined);
    },
    /** null where the stream does not exist. */
    lastRevision(stream: string): number | null {
      const state = streamOf(stream);
      return state === null || state.revision < 0 ? null : state.revision;
    },
    readForwards(stream: string, fromRevision: number, limit: number): readonly StoredEvent[] {
      const state = streamOf(stream);
      if (state === null) return [];
      const first = Math.max(fromRevision, state.begins);
      return streamForwards.all(state.key, first, state.revision, limit) as unknown as StoredEvent[];
    },
    readBackwards(stream: string, fromRevision: number, limit: number): readonly StoredEvent[] {
      const state = streamOf(stream);
      if (state === null) return [];
      const newest = Math.min(fromRevision, state.revision);
      const found = streamBackwards.all(state.key, newest, limit) as unknown as StoredEvent[];
      return found.filter(({ revision }) => revision >= state.begins);
    },
    /** Events at the position and behind it. */
    allForwards(position: number, limit: number): readonly StoredEvent[] {
      if (position > recentAfter) {
        const start = recentFrom(position);
        return recent.slice(start, start + limit);
      }
      return allForwards.all(position, limit) as unknown as StoredEvent[];
    },
    /** Events before the position, newest first. */
    allBackwards(position: number, limit: number): readonly StoredEvent[] {
      if (limit === 1 && position > lastPosition && recent.length > 0) return recent.slice(-1);
      return allBackwards.all(position, limit) as unknown as StoredEvent[];
    },
    /** Whether a record begins there, or the next one will. */
    isBoundary(position: number): boolean {
      if (position === 0 || position === writerPosition) return true;
      return hasPosition.get(position) !== undefined;
    },
    /** Of the newest event; 0 where there is none. */
    get lastPosition() {
      return lastPosition;
    },
    get writerPosition() {
      return writerPosition;
    },
    commits,
    close(): void {
      if (closed) return;
      closed = true;
      for (const { reject } of waiting) reject(new Error('the log is closed'));
      waiting = [];
      database.close();
    },
  };
}

export type Log = ReturnType<typeof openLog>;

/** The log as who is so many events behind sees it. Appends go through. */
export function newestBefore(log: Log, lagEvents: () => number): Log {
  const end = (): number => {
    const lag = lagEvents();
    return lag === 0 ? Number.POSITIVE_INFINITY : (log.allBackwards(log.writerPosition, lag).at(-1)?.position ?? 0);
  };
  const seen = (events: readonly StoredEvent[]): readonly StoredEvent[] => {
    const before = end();
    return before === Number.POSITIVE_INFINITY ? events : events.filter(({ position }) => position < before);
  };
  const readBackwards: Log['readBackwards'] = (stream, fromRevision, limit) =>
    seen(log.readBackwards(stream, fromRevision, limit + lagEvents())).slice(0, limit);
  return {
    append: (request) => log.append(request),
    writeSystemRecord: () => log.writeSystemRecord(),
    lastRevision: (stream) =>
      lagEvents() === 0
        ? log.lastRevision(stream)
        : (readBackwards(stream, Number.MAX_SAFE_INTEGER, 1)[0]?.revision ?? null),
    readForwards: (...args) => seen(log.readForwards(...args)),
    readBackwards,
    allForwards: (...args) => seen(log.allForwards(...args)),
    allBackwards: (position, limit) => log.allBackwards(Math.min(position, end()), limit),
    isBoundary: (position) => log.isBoundary(position),
    get lastPosition() {
      return lagEvents() === 0 ? log.lastPosition : (log.allBackwards(end(), 1)[0]?.position ?? 0);
    },
    get writerPosition() {
      return Math.min(log.writerPosition, end());
    },
    commits: log.commits,
    close: () => log.close(),
  };
}
