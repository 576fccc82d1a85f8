import { randomBytes } from 'node:crypto';
import { silentLogger } from '#runtime/logger';
import { eventStoreContract } from './event-store.contract.js';
import { createEventStoreDbEventStore } from './eventstoredb.js';

function serverUrl(): string {
  const url = process.env['EVENT_STORE_URL'];
  if (url === undefined || url === '') {
    throw new Error('EVENT_STORE_URL is not set: these specs need a server (see test/servers)');
  }
  return url;
}

eventStoreContract('EventStoreDB', async () => {
  // One server serves all tests: each is an installation of its own.
  const installation = `test-${randomBytes(6).toString('hex')}`;
  const open = () => createEventStoreDbEventStore({ url: serverUrl(), installation, logger: silentLogger });
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
});
