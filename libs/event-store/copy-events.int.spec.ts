import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '#runtime/logger';
import { copyContract, type StoreForCopy } from './copy-events.contract.js';
import { createEventStoreDbEventStore } from './eventstoredb.js';
import { createSqliteEventStore } from './sqlite.js';

async function onSqlite(): Promise<StoreForCopy> {
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-copy-'));
  const open = () => createSqliteEventStore(join(folder, 'events.db'));
  let store = open();
  return {
    store,
    async reopen() {
      await store.close();
      store = open();
      return store;
    },
    async destroy() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** An installation of its own on the server of this run. */
async function onServer(): Promise<StoreForCopy> {
  const { EVENT_STORE_URL: url = '' } = process.env;
  if (url === '') throw new Error('EVENT_STORE_URL is not set: these specs need a server (npm run servers -- up)');
  const installation = `test-${randomBytes(6).toString('hex')}`;
  const open = () => createEventStoreDbEventStore({ url, installation, logger: silentLogger });
  let store = await open();
  return {
    store,
    async reopen() {
      await store.close();
      store = await open();
      return store;
    },
    destroy: () => store.close(),
  };
}

copyContract('from SQLite to EventStoreDB', onSqlite, onServer);
copyContract('from EventStoreDB to SQLite', onServer, onSqlite);
copyContract('from one installation on EventStoreDB to another', onServer, onServer);
