/** Snapshots in one SQLite file beside the events: for the process that holds the data folder alone. */
import { createLru } from '#concurrency/lru';
import { unavailable } from '#runtime/errors';
import { foldLogBack, inTransaction, openDatabase, type Database } from '#sqlite/database';
import { createGroupCommit } from '#sqlite/group-commit';
import { createLooks } from './looks.js';
import { packed, unpacked } from './packed-body.js';
import { parseFacts } from './snapshot-facts.js';
import { keptSince, type Retention, type Snapshot, type Snapshots } from './snapshots.js';

/**
 * A content stays for as long as a snapshot names it; both are written, and dropped, in one transaction, so that nothing a
 * killed process leaves behind is half. A power cut may take the last seconds, as of everything that is not the truth.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS contents (
    id INTEGER PRIMARY KEY,
    organization_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    packed BLOB NOT NULL,
    UNIQUE (organization_id, hash)
  );
  CREATE TABLE IF NOT EXISTS snapshots (
    id TEXT PRIMARY KEY,
    task_id TEXT NOT NULL,
    taken_at TEXT NOT NULL,
    content INTEGER NOT NULL,
    facts TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS snapshots_of_task ON snapshots (task_id, taken_at, id);
  CREATE INDEX IF NOT EXISTS snapshots_of_content ON snapshots (content);
  CREATE INDEX IF NOT EXISTS snapshots_by_time ON snapshots (taken_at);
`;

/** Contents are seldom read again, and would push everything else out. */
const cacheKb = 4_000;
/** Snapshots whose facts stay in memory: each task's newest is asked for with every run. */
const knownSnapshots = 10_000;
/** Snapshots that go in one transaction; others have a turn in between. */
const sweptAtOnce = 200;

/** A page is kept while code looks at it, which takes longer: nobody waits. Where many are kept, results wait a little. */
const gathering = { gatherAtLeastMs: 5, gatherSeveralMs: 40 };

interface Save {
  readonly snapshot: Snapshot;
  /** null: known to be there. */
  readonly bytes: Uint8Array | null;
}

function openShared(file: string, checked: boolean, lock: Database | null): Database {
  try {
    return openDatabase({ file, durability: 'normal', schema, checked, held: 'shared', cacheKb });
  } catch (error) {
    lock?.close();
    throw error;
  }
}

/** `file`: a path or `:memory:`. Throws `DatabaseInUse` where another process holds the file, `DatabaseDamaged`. */
export function createSqliteSnapshots(
  file: string,
  retention: Retention,
  { checked = false }: { readonly checked?: boolean } = {},
): Snapshots {
  // The command line copies it while the server writes; a second writer is kept out by a file of its own.
  const lock = file === ':memory:' ? null : openDatabase({ file: `${file}.lock`, durability: 'normal', schema: '' });
  const database = openShared(file, checked, lock);
  database.exec('PRAGMA secure_delete = ON');
  const findContent = database.prepare('SELECT id FROM contents WHERE organization_id = ? AND hash = ?');
  const addContent = database.prepare('INSERT INTO contents (organization_id, hash, packed) VALUES (?, ?, ?)');
  const addSnapshot = database.prepare('INSERT OR IGNORE INTO snapshots VALUES (?, ?, ?, ?, ?)');
  /** Answered by the index alone: the facts are read where they are not known. */
  const newest = database.prepare('SELECT id FROM snapshots WHERE task_id = ? ORDER BY taken_at DESC, id DESC LIMIT ?');
  const findFacts = database.prepare('SELECT facts FROM snapshots WHERE id = ?');
  const beyond = database.prepare(
    'SELECT id, content FROM snapshots WHERE task_id = ? ORDER BY taken_at DESC, id DESC LIMIT -1 OFFSET ?',
  );
  const before = database.prepare(
    `SELECT id, content FROM snapshots WHERE taken_at < ? ORDER BY taken_at LIMIT ${sweptAtOnce}`,
  );
  const beforeOf = database.prepare(
    `SELECT id, content FROM snapshots WHERE task_id = ? AND taken_at < ? AND id NOT IN (SELECT value FROM json_each(?)) LIMIT ${sweptAtOnce}`,
  );
  const find = database.prepare(
    'SELECT s.facts, c.packed FROM snapshots s JOIN contents c ON c.id = s.content WHERE s.id = ? AND s.task_id = ?',
  );
  const drop = database.prepare('DELETE FROM snapshots WHERE id = ?');
  const dropUnused = database.prepare(
    'DELETE FROM contents WHERE id = ? AND NOT EXISTS (SELECT 1 FROM snapshots WHERE content = contents.id)',
  );

  /** Nobody else writes: what is known of a snapshot holds for as long as the index has it. */
  const known = createLru<string, Snapshot>(knownSnapshots);
  const knownFacts = (id: string): Snapshot | null => {
    const found = known.get(id) ?? parseFacts(String(findFacts.get(id)?.['facts']));
    if (found !== null) known.set(id, found);
    return found;
  };

  const contentOf = ({ organizationId, contentHash }: Snapshot): number | null =>
    (findContent.get(organizationId, contentHash)?.['id'] as number | undefined) ?? null;

  /** Inside a transaction. */
  const letGo = (rows: readonly Record<string, unknown>[]): number => {
    for (const row of rows) {
      drop.run(row['id'] as string);
      known.delete(row['id'] as string);
    }
    for (const row of rows) dropUnused.run(row['content'] as number);
    return rows.length;
  };

  const isLookDue = createLooks(retention);
  /** False: the content is not there, and was not given. */
  const write = ({ snapshot, bytes }: Save): boolean => {
    const { id, organizationId, taskId, takenAt, contentHash } = snapshot;
    const there = contentOf(snapshot);
    if (there === null && bytes === null) return false;
    const content = there ?? Number(addContent.run(organizationId, contentHash, bytes).lastInsertRowid);
    addSnapshot.run(id, taskId, takenAt, content, JSON.stringify(snapshot));
    if (isLookDue(taskId)) letGo(beyond.all(taskId, retention.keepCount));
    dropUnused.run(content); // one of that id was there, with another content
    return true;
  };
  const saves = createGroupCommit(database, write, () => undefined, gathering);

  return {
    async save(snapshot, body) {
      try {
        // Compressed before the transaction, and only where the content is new.
        const bytes = contentOf(snapshot) === null ? await packed(body) : null;
        if (await saves.submit({ snapshot, bytes })) return;
        // It was there a moment ago, and the last snapshot that named it went meanwhile.
        await saves.submit({ snapshot, bytes: await packed(body) });
      } catch (error) {
        throw unavailable('snapshots_unavailable', 'The page could not be kept.', 5, error);
      }
    },

    list: async (taskId, limit) =>
      newest
        .all(taskId, Math.min(limit, retention.keepCount))
        .map((row) => knownFacts(String(row['id'])))
        .filter((snapshot) => snapshot !== null),

    async read(taskId, id) {
      const row = find.get(id, taskId);
      if (row === undefined) return null;
      const snapshot = parseFacts(String(row['facts']));
      if (snapshot === null) return null;
      const body = await unpacked(row['packed'] as Uint8Array, snapshot);
      return body === null ? null : { snapshot, body };
    },

    async forget(taskId, older) {
      if (older === undefined) {
        saves.flush();
        inTransaction(database, () => letGo(beyond.all(taskId, 0)));
        // Nothing of it is left in the log either.
        foldLogBack(database);
        return;
      }
      const { takenBefore, except } = older;
      for (;;) {
        const found = beforeOf.all(taskId, takenBefore, JSON.stringify(except));
        inTransaction(database, () => letGo(found));
        if (found.length < sweptAtOnce) return;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },

    async sweep(nowMs) {
      const since = keptSince(nowMs, retention);
      for (let gone = 0; ;) {
        const went = inTransaction(database, () => letGo(before.all(since)));
        gone += went;
        if (went < sweptAtOnce) return gone;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },

    async close() {
      saves.flush();
      database.close();
      lock?.close();
    },
  };
}
