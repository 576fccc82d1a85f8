import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type Database } from '#sqlite/database';
import { describeSnapshots } from './snapshots.contract.js';
import { createSqliteSnapshots } from './sqlite.js';
import type { Retention, Snapshots } from './snapshots.js';

describeSnapshots('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-snapshots-'));
  const file = join(folder, 'snapshots.db');
  let current: { readonly store: Snapshots; readonly retention: Retention } | null = null;

  /** The file is held alone: the store lets go of it for as long as somebody looks inside. */
  async function inside<T>(look: (database: Database) => T): Promise<T> {
    await current?.store.close();
    const database = openDatabase({ file, durability: 'normal', schema: '' });
    try {
      return look(database);
    } finally {
      database.close();
      if (current !== null) current = { ...current, store: createSqliteSnapshots(file, current.retention) };
    }
  }
  const now = (): Snapshots => {
    if (current === null) throw new Error('not open');
    return current.store;
  };

  return {
    isShared: false,
    async open(retention) {
      current = { store: createSqliteSnapshots(file, retention), retention };
      return {
        save: (snapshot, body) => now().save(snapshot, body),
        list: (taskId, limit) => now().list(taskId, limit),
        read: (taskId, id) => now().read(taskId, id),
        forget: (taskId) => now().forget(taskId),
        sweep: (nowMs) => now().sweep(nowMs),
        async close() {
          await now().close();
          current = null;
        },
      };
    },
    contents: () => inside((database) => Number(database.prepare('SELECT count(*) AS n FROM contents').get()?.['n'])),
    damage: () => inside((database) => database.exec(`UPDATE contents SET packed = x'28b52ffd2000010000'`)),
    alter: (change) =>
      inside((database) => {
        const update = database.prepare('UPDATE snapshots SET facts = ? WHERE id = ?');
        for (const { id, facts } of database.prepare('SELECT id, facts FROM snapshots').all())
          update.run(change(String(facts)), String(id));
      }),
    // A transaction that was not committed leaves nothing.
    orphan: async () => undefined,
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
});
