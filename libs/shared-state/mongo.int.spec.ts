import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createIdempotencyRecords, idempotencyCollection } from '#http/idempotency';
import { createSoleLeases } from '#leases/sole';
import { createMongoReadStore } from '#read-store/mongo';
import type { ReadStore } from '#read-store/read-store';
import { silentLogger } from '#runtime/logger';
import { createEventVault } from '#vault/event-vault';
import { createDocumentState } from './document-state.js';
import { sharedStateContract, type SharedStateUnderTest } from './shared-state.contract.js';

const url = process.env['READ_STORE_URL'] ?? '';
if (url === '') throw new Error('READ_STORE_URL must name a MongoDB (npm run servers -- up mongo)');

async function create(): Promise<SharedStateUnderTest> {
  const installation = `spec-${randomBytes(6).toString('hex')}`;
  const stores: ReadStore[] = [];
  const open = async () => {
    const store = await createMongoReadStore({ url, installation, logger: silentLogger });
    stores.push(store);
    return createDocumentState(store);
  };
  return {
    state: await open(),
    second: open,
    async destroy() {
      await Promise.all(stores.map((store) => store.close()));
      const connection = await mongoose.createConnection(url).asPromise();
      for (const { name } of await connection.listCollections()) {
        if (name.startsWith(`${installation}.`)) await connection.dropCollection(name);
      }
      await connection.close();
    },
  };
}

sharedStateContract('MongoDB', create);

describe('idempotency records in MongoDB', () => {
  it('an idempotency key is free again after its expired record was removed', async () => {
    const { state, destroy } = await create();
    const eventStore = createSqliteEventStore(':memory:');
    const time = { ms: 1_000 };
    const vault = createEventVault(eventStore, Buffer.alloc(32, 1));
    const records = createIdempotencyRecords(state, vault, { now: () => time.ms }, createSoleLeases());
    const asked = { organizationId: 'org_1', key: 'k', content: 'POST /x {}' };
    const answer = { status: 201, headers: {}, body: '{}' };
    await records.once(asked, async () => answer);
    time.ms += 25 * 3_600_000;
    await state.removeExpired(idempotencyCollection, time.ms);
    expect((await records.once(asked, async () => answer)).replayed).toBe(false);
    expect((await records.once(asked, async () => answer)).replayed).toBe(true);
    await eventStore.close();
    await destroy();
  });
});
