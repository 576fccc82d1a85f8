import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import mongoose, { mongo } from 'mongoose';
import { ConfigError } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import { createMongoSnapshots } from './mongo.js';
import { describeSnapshots, snapshotOf } from './snapshots.contract.js';

const url = process.env['READ_STORE_URL'] ?? '';
if (url === '') throw new Error('READ_STORE_URL must name a MongoDB (npm run servers -- up mongo)');

const connection = await mongoose.createConnection(url).asPromise();
const database = connection.getClient().db(connection.name);
afterAll(() => connection.close());

const freshInstallation = (): string => `spec-${randomBytes(6).toString('hex')}`;

async function dropInstallation(installation: string): Promise<void> {
  for (const { name } of await database.listCollections().toArray()) {
    if (name.startsWith(`${installation}.`)) await database.dropCollection(name);
  }
}

describeSnapshots('MongoDB', async () => {
  const installation = freshInstallation();
  const files = `${installation}.snapshot_bytes.files`;
  const chunks = `${installation}.snapshot_bytes.chunks`;
  return {
    isShared: true,
    open: (retention) => createMongoSnapshots({ url, installation, retention, logger: silentLogger }),
    contents: () => database.collection(files).countDocuments({}),
    async damage() {
      for (const { _id } of await database.collection(chunks).find({}).toArray()) {
        await database.collection(chunks).updateOne({ _id }, { $set: { data: new mongo.Binary(randomBytes(40)) } });
      }
    },
    async alter(change) {
      const kept = database.collection<{ _id: string; facts: string }>(`${installation}.snapshots`);
      for (const { _id, facts } of await kept.find({}).toArray()) {
        await kept.updateOne({ _id }, { $set: { facts: change(facts) } });
      }
    },
    async orphan() {
      // Killed before its content was named, and before its snapshot was written.
      const lost = { length: 1, chunkSize: 261_120, uploadDate: new Date(0), filename: 'lost' };
      await database.collection(files).insertOne(lost);
      const { insertedId } = await database.collection(files).insertOne({ ...lost, _id: new mongo.ObjectId() });
      await database
        .collection<{ _id: string; file: mongo.ObjectId; names: string[] }>(`${installation}.snapshot_contents`)
        .insertOne({
          _id: 'org_00000000000000000000000001:sha256:00',
          file: insertedId,
          names: ['snp_00000000000000000000000009'],
        });
    },
    dispose: () => dropInstallation(installation),
  };
});

describe('snapshots in MongoDB', () => {
  it('keeps installations apart', async () => {
    const [one, other] = [freshInstallation(), freshInstallation()];
    const retention = { keepCount: 10, keepDays: 10 };
    const first = await createMongoSnapshots({ url, installation: one, retention, logger: silentLogger });
    const second = await createMongoSnapshots({ url, installation: other, retention, logger: silentLogger });
    const body = new TextEncoder().encode('<p>1');
    const snapshot = snapshotOf(body);
    await first.save(snapshot, body);
    expect(await second.read(snapshot.taskId, snapshot.id)).toBe(null);
    await Promise.all([first.close(), second.close()]);
    await Promise.all([dropInstallation(one), dropInstallation(other)]);
  });

  it('refuses an address that cannot be read, and rejects where nobody answers', async () => {
    const options = { installation: 'spec', retention: { keepCount: 1, keepDays: 1 }, logger: silentLogger };
    await expect(createMongoSnapshots({ ...options, url: 'mongodb://' })).rejects.toThrow(ConfigError);
    await expect(createMongoSnapshots({ ...options, url: 'mongodb://127.0.0.1:1/meerkat' })).rejects.toMatchObject({
      reason: 'snapshots_unavailable',
    });
  });
});
