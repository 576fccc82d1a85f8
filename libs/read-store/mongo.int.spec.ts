import { randomBytes } from 'node:crypto';
import { silentLogger } from '#runtime/logger';
import mongoose from 'mongoose';
import { readStoreContract } from './read-store.contract.js';
import { createMongoReadStore } from './mongo.js';

const url = process.env['READ_STORE_URL'];
if (url === undefined) throw new Error('READ_STORE_URL must name a MongoDB (npm run servers -- up mongo)');

const openOn = (installation: string) => createMongoReadStore({ url, installation, logger: silentLogger });

async function dropInstallation(installation: string): Promise<void> {
  const connection = await mongoose.createConnection(url ?? '').asPromise();
  for (const { name } of await connection.listCollections()) {
    if (name.startsWith(`${installation}.`)) await connection.dropCollection(name);
  }
  await connection.close();
}

readStoreContract('MongoDB', async () => {
  const installation = `spec-${randomBytes(6).toString('hex')}`;
  const opened = [await openOn(installation)];
  const open = async () => {
    const store = await openOn(installation);
    opened.push(store);
    return store;
  };
  const closeAll = () => Promise.all(opened.splice(0).map((store) => store.close()));
  return {
    store: opened[0] ?? (await open()),
    second: open,
    async reopen() {
      await closeAll();
      return open();
    },
    async destroy() {
      await closeAll();
      await dropInstallation(installation);
    },
  };
});
