/** An installation on data that an earlier version wrote (test/e2e/stored), in the mode of this run. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { mongo } from 'mongoose';
import { z } from 'zod';
import { startEventStore } from '../../servers/servers.ts';
import { scratchFolder, type Installation } from './installation.js';
import { serversOfThisRun, type ServerAddresses } from './servers.js';

/** As in README.md of the stored data. */
const settings = { SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
const installationName = 'stored';

export interface StoredInstallation {
  readonly installation: Installation;
  /** Path to what the earlier version answered. */
  readonly answers: Readonly<Record<string, { readonly status: number; readonly text: string }>>;
  remove(): Promise<void>;
}

const answersOf = z.record(z.string(), z.object({ status: z.int(), text: z.string() }));

async function stored(mode: 'one-process' | 'servers', name: string): Promise<Buffer> {
  const file = fileURLToPath(new URL(`../stored/${mode}/${name}.gz`, import.meta.url));
  return gunzipSync(await readFile(file));
}

async function embedded(smtpUrl: string): Promise<StoredInstallation> {
  const { embeddedInstallation } = await import('./embedded.js');
  const installation = await embeddedInstallation({ smtpUrl, settings });
  await mkdir(installation.dataDir, { mode: 0o700 });
  for (const name of ['events.db', 'views.db', 'bus.db', 'snapshots.db']) {
    await writeFile(join(installation.dataDir, name), await stored('one-process', name));
  }
  return {
    installation,
    answers: answersOf.parse(JSON.parse((await stored('one-process', 'answers.json')).toString())),
    remove: () => installation.remove(),
  };
}

async function fillMongo({ readStoreUrl }: ServerAddresses): Promise<void> {
  const client = await mongo.MongoClient.connect(readStoreUrl);
  try {
    const text = (await stored('servers', 'mongodb.json')).toString();
    const collections = mongo.BSON.EJSON.parse(text, { relaxed: false }) as Record<string, mongo.Document[]>;
    const listed = await client.db().listCollections({}, { nameOnly: true }).toArray();
    // Left behind where an earlier run of this spec was killed.
    const leftBehind = listed.map(({ name }) => name).filter((name) => name.startsWith(`${installationName}.`));
    for (const name of leftBehind) await client.db().collection(name).drop();
    for (const [name, documents] of Object.entries(collections)) {
      if (documents.length > 0) await client.db().collection(name).insertMany(documents);
    }
  } finally {
    await client.close();
  }
}

/** On a server of events of its own: the stored file is the whole of it. */
async function distributed(servers: ServerAddresses, smtpUrl: string): Promise<StoredInstallation> {
  const { distributedInstallation } = await import('./distributed.js');
  const dataFolder = await scratchFolder();
  await writeFile(join(dataFolder, 'eventstoredb.db'), await stored('servers', 'eventstoredb.db'));
  const server = await startEventStore({ dataFolder });
  await fillMongo(servers);
  const installation = await distributedInstallation(
    { ...servers, eventStoreUrl: server.url },
    { smtpUrl, settings, name: installationName },
  );
  return {
    installation,
    answers: answersOf.parse(JSON.parse((await stored('servers', 'answers.json')).toString())),
    async remove() {
      await installation.remove();
      await server.stop();
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
}

export function createStoredInstallation(smtpUrl: string): Promise<StoredInstallation> {
  const servers = serversOfThisRun();
  return servers === null ? embedded(smtpUrl) : distributed(servers, smtpUrl);
}
