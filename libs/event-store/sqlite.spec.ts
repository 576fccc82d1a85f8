import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openDatabase, DatabaseInUse } from '#sqlite/database';
import { eventStoreContract } from './event-store.contract.js';
import { createSqliteEventStore } from './sqlite.js';

eventStoreContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-events-'));
  const file = join(folder, 'events.db');
  let store = createSqliteEventStore(file);
  return {
    store,
    async reopen() {
      await store.close();
      store = createSqliteEventStore(file);
      return store;
    },
    async destroy() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});

describe('the SQLite file', () => {
  it('is refused to a second writer', () => {
    const folder = mkdtempSync(join(tmpdir(), 'meerkat-events-'));
    const file = join(folder, 'events.db');
    const first = openDatabase({ file, durability: 'full', schema: '' });
    expect(() => createSqliteEventStore(file)).toThrow(DatabaseInUse);
    first.close();
    rmSync(folder, { recursive: true });
  });

  it('is of an SQLite that does not corrupt WAL databases (3.51.3 or newer)', () => {
    const [major = 0, minor = 0, patch = 0] = (process.versions['sqlite'] ?? '').split('.').map(Number);
    expect(major * 1_000_000 + minor * 1_000 + patch).toBeGreaterThanOrEqual(3_051_003);
  });
});
