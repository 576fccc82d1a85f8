import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStoreContract } from './read-store.contract.js';
import { createSqliteReadStore } from './sqlite.js';

readStoreContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-views-'));
  const file = join(folder, 'views.db');
  let store = createSqliteReadStore(file);
  return {
    store,
    second: async () => store,
    async reopen() {
      await store.close();
      store = createSqliteReadStore(file);
      return store;
    },
    async destroy() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});
