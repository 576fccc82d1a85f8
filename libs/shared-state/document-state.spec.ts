import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createDocumentState } from './document-state.js';
import { sharedStateContract } from './shared-state.contract.js';
import type { Expiring, StateCollection } from './shared-state.js';

sharedStateContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-shared-state-'));
  const stores: ReturnType<typeof createSqliteReadStore>[] = [];
  const open = () => {
    const store = createSqliteReadStore(join(folder, 'views.db'));
    stores.push(store);
    return createDocumentState(store);
  };
  return {
    state: open(),
    second: async () => open(),
    async destroy() {
      for (const store of stores) await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});

describe('shared state in a file of views', () => {
  it('keeps the tables, columns and indexes of released versions', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'meerkat-shared-state-'));
    const file = join(folder, 'views.db');
    const store = createSqliteReadStore(file);
    const quota: StateCollection<Expiring> = { name: 'quota', indexedBy: 'expiresAtMs' };
    await createDocumentState(store).save(quota, [{ key: 'a', version: 4, value: { id: 'a', expiresAtMs: 7 } }]);
    await store.close();
    const database = new DatabaseSync(file);
    expect(database.prepare('SELECT * FROM view_quota').all()).toEqual([
      { id: 'a', revision: 4, document: '{"id":"a","expiresAtMs":7}', field_expiresAtMs: 7 },
    ]);
    expect(database.prepare("SELECT name FROM pragma_index_info('view_quota_by_expiresAtMs')").all()).toEqual([
      { name: 'field_expiresAtMs' },
      { name: 'id' },
    ]);
    database.close();
    rmSync(folder, { recursive: true });
  });
});
