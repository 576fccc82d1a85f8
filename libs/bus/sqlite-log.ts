/** The tables of the SQLite bus: a log per topic, a cursor per group, messages to be tried later, and dead letters. */
import type { DatabaseSync } from 'node:sqlite';
import type { BusMessage, DeadLetter } from './bus.js';

export const schema = `
  CREATE TABLE IF NOT EXISTS messages (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS messages_by_topic ON messages (topic, sequence);
  CREATE TABLE IF NOT EXISTS cursors (
    topic TEXT NOT NULL,
    consumers TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (topic, consumers)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS retries (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    consumers TEXT NOT NULL,
    message TEXT NOT NULL,
    rounds INTEGER NOT NULL,
    due_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS retries_by_due ON retries (topic, consumers, due_ms);
  CREATE TABLE IF NOT EXISTS parked (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    consumers TEXT NOT NULL,
    message TEXT NOT NULL,
    reason TEXT NOT NULL,
    parked_at TEXT NOT NULL
  ) STRICT;
`;

/** Messages appended before those that every group has handled are deleted. */
const pruneEvery = 2_000;

export interface LoggedMessage {
  readonly sequence: number;
  readonly message: BusMessage;
}

export interface StoredRetry {
  readonly id: number;
  readonly message: BusMessage;
  readonly round: number;
}

type Row = Readonly<Record<string, string | number>>;

const parse = (row: Row): BusMessage => JSON.parse(String(row['message'])) as BusMessage;

/** Every call is synchronous, and throws where the file cannot be read or written. */
export type MessageLog = ReturnType<typeof createMessageLog>;

export function createMessageLog(database: DatabaseSync) {
  const insert = database.prepare('INSERT INTO messages (topic, message) VALUES (?, ?)');
  const selectAfter = database.prepare(
    'SELECT sequence, message FROM messages WHERE topic = ? AND sequence > ? ORDER BY sequence LIMIT ?',
  );
  const prune = database.prepare(
    'DELETE FROM messages WHERE topic = ? AND sequence <= (SELECT min(sequence) FROM cursors WHERE topic = ?)',
  );
  const selectLetters = database.prepare('SELECT * FROM parked WHERE topic = ? ORDER BY id DESC LIMIT ?');
  let appendedSincePrune = 0;

  /** Of one group that reads one topic. */
  const forGroup = (topic: string, group: string) => {
    const selectCursor = database.prepare('SELECT sequence FROM cursors WHERE topic = ? AND consumers = ?');
    const upsertCursor = database.prepare(
      'INSERT INTO cursors (topic, consumers, sequence) VALUES (?, ?, ?) ON CONFLICT (topic, consumers) DO UPDATE SET sequence = excluded.sequence',
    );
    const insertRetry = database.prepare(
      'INSERT INTO retries (topic, consumers, message, rounds, due_ms) VALUES (?, ?, ?, ?, ?)',
    );
    const selectDue = database.prepare(
      'SELECT id, message, rounds FROM retries WHERE topic = ? AND consumers = ? AND due_ms <= ? ORDER BY due_ms LIMIT ?',
    );
    const removeRetry = database.prepare('DELETE FROM retries WHERE id = ?');
    const insertLetter = database.prepare(
      'INSERT INTO parked (topic, consumers, message, reason, parked_at) VALUES (?, ?, ?, ?, ?)',
    );
    return {
      /** 0: nothing handled so far. */
      cursor: (): number => Number(selectCursor.get(topic, group)?.['sequence'] ?? 0),
      saveCursor(sequence: number): void {
        upsertCursor.run(topic, group, sequence);
        if (appendedSincePrune < pruneEvery) return;
        prune.run(topic, topic);
        appendedSincePrune = 0;
      },
      after: (sequence: number, limit: number): readonly LoggedMessage[] =>
        (selectAfter.all(topic, sequence, limit) as Row[]).map((row) => ({
          sequence: Number(row['sequence']),
          message: parse(row),
        })),
      addRetry(message: BusMessage, round: number, dueAtMs: number): void {
        insertRetry.run(topic, group, JSON.stringify(message), round, dueAtMs);
      },
      dueRetries: (nowMs: number, limit: number): readonly StoredRetry[] =>
        (selectDue.all(topic, group, nowMs, limit) as Row[]).map((row) => ({
          id: Number(row['id']),
          message: parse(row),
          round: Number(row['rounds']),
        })),
      deleteRetry(id: number): void {
        removeRetry.run(id);
      },
      addDeadLetter({ message, reason, at }: DeadLetter): void {
        insertLetter.run(topic, group, JSON.stringify(message), reason, at);
      },
    };
  };

  return {
    forGroup,
    append(topic: string, messages: readonly BusMessage[]): void {
      for (const message of messages) insert.run(topic, JSON.stringify(message));
      appendedSincePrune += messages.length;
    },
    deadLetters: (topic: string, limit: number): readonly DeadLetter[] =>
      (selectLetters.all(topic, limit) as Row[]).map((row) => ({
        message: parse(row),
        topic: String(row['topic']),
        group: String(row['consumers']),
        reason: String(row['reason']),
        at: String(row['parked_at']),
      })),
  };
}
