/** An installation on servers: each service in processes of its own, two of each, behind two gateways. */
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { mongo } from 'mongoose';
import type { RecordedEvent } from '#event-store/event-store';
import { createEventStoreDbEventStore } from '#event-store/eventstoredb';
import { createOwnerKeys } from '#vault/owner-keys';
import { createSealedEvents } from '#vault/sealed-events';
import { everyEvent } from '#event-store/read-through';
import { createMongoReadStore } from '#read-store/mongo';
import { parseKafkaAddress } from '#runtime/engine-address';
import { silentLogger } from '#runtime/logger';
import { freePort } from '../../servers/process.ts';
import { createApi } from './api.js';
import { runCommand, startCommand } from './command-line.js';
import {
  appendTo,
  commonSettings,
  endOf,
  ownerApiKey,
  scratchFolder,
  type Installation,
  type InstallationOptions,
  type StoredBytes,
} from './installation.js';
import { startProduct, type Ending, type Product } from './product.js';
import type { ServerAddresses } from './servers.js';
import { startTcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

/** One process of an installation, killed and started for itself. */
export interface Member {
  /** `delivery-1`. */
  readonly name: string;
  readonly roles: string;
  /** null while it is down. */
  readonly pid: number | null;
  /** Where it answers probes; null while it is down. */
  readonly url: string | null;
  start(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<Ending>;
  /** Sends a signal that does not end it (SIGSTOP, SIGCONT). */
  signal(signal: NodeJS.Signals): void;
}

export interface DistributedInstallation extends Installation {
  /** Name of the installation: the prefix of all it keeps. */
  readonly name: string;
  readonly members: readonly Member[];
}

export interface DistributedOptions extends InstallationOptions {
  /** Which roles share a process; each stands for two. */
  readonly layout?: readonly string[];
  /** Where processes of these roles find the servers, where not at their own addresses. */
  readonly addressesFor?: (roles: string) => ServerAddresses;
  /** Existing data for its first start; a new name where left out. */
  readonly name?: string;
}

/** In no more processes than two cores bear, for a start of each takes a second of one; `npm run chaos` gives each role its own. */
const defaultLayout = ['gateway,accounts', 'tasks,scheduling,execution,rendering,delivery'];
const replicas = [1, 2] as const;

function createMember(
  name: string,
  settingsNow: () => Readonly<Record<string, string>>,
  folder: string,
  keep: (lines: readonly string[]) => void,
) {
  let product: Product | null = null;
  let url: string | null = null;
  const current = (): Product => {
    if (product === null) throw new Error(`${name} was not started`);
    return product;
  };
  return {
    name,
    roles: settingsNow()['ROLES'] ?? '',
    get pid() {
      return product?.pid ?? null;
    },
    get url() {
      return url;
    },
    get lines(): readonly string[] {
      return product?.lines ?? [];
    },
    async start() {
      const settings = settingsNow();
      product = startProduct(settings, folder);
      const told = await product.ready();
      // A gateway says where people find the installation, which may be another gateway.
      const { PORT = '0' } = settings;
      const own = PORT === '0' ? told : `http://127.0.0.1:${PORT}`;
      await until(`${name} is ready`, async () => (await fetch(`${own}/readyz`)).ok);
      url = told;
    },
    signal: (signal: NodeJS.Signals) => current().signal(signal),
    async kill(signal: NodeJS.Signals): Promise<Ending> {
      const ending = current();
      url = null;
      ending.signal(signal);
      const how = await endOf(ending);
      keep(ending.lines);
      product = null;
      return how;
    },
  };
}

/** A process that was killed counts as worse than an exit code, and that as worse than an orderly end. */
function worst(endings: readonly Ending[]): Ending {
  const badness = ({ code }: Ending): number => code ?? 256;
  return endings.reduce((worse, ending) => (badness(ending) > badness(worse) ? ending : worse), {
    code: 0,
    signal: null,
  });
}

export async function distributedInstallation(
  servers: ServerAddresses,
  options: DistributedOptions = {},
): Promise<DistributedInstallation> {
  const { name = `e2e-${randomBytes(6).toString('hex')}` } = options;
  const folder = await scratchFolder();
  const { hostname, port: storePort } = new URL(servers.eventStoreUrl);
  const storeProxy = await startTcpProxy({ host: hostname, port: Number(storePort) });
  // Below those of outgoing connections: one of another installation's may be given a port while nobody listens on it.
  const ports = await Promise.all(replicas.map(() => freePort()));
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const lines: string[] = [];
  let secretKey = randomBytes(32).toString('base64');
  let further: Readonly<Record<string, string>> = {};
  const sharedNow = () => ({
    INSTALLATION: name,
    SECRET_KEY: secretKey,
    PUBLIC_URL: urls[0] ?? '',
    ...commonSettings(options),
    ...further,
  });
  const proxied = { ...servers, eventStoreUrl: `esdb://127.0.0.1:${storeProxy.port}?tls=false` };
  const engines = (roles: string): Readonly<Record<string, string>> => {
    const { eventStoreUrl, busUrl, readStoreUrl } = options.addressesFor?.(roles) ?? proxied;
    return { EVENT_STORE_URL: eventStoreUrl, BUS_URL: busUrl, READ_STORE_URL: readStoreUrl };
  };
  const members = (options.layout ?? defaultLayout).flatMap((roles) =>
    replicas.map((replica, index) => {
      // Every process answers probes; gateways do so where people find them.
      const port = roles.split(',').includes('gateway') ? String(ports[index]) : '0';
      const settingsNow = () => ({ ...sharedNow(), ...engines(roles), ROLES: roles, PORT: port });
      return createMember(`${roles}-${replica}`, settingsNow, folder, (told) => lines.push(...told));
    }),
  );
  let next = 0;
  const anyUrl = (): string => urls[(next += 1) % urls.length] ?? '';

  return {
    name,
    members,
    apiKey: ownerApiKey,
    api: createApi(anyUrl, ownerApiKey),
    get url() {
      return urls[0] ?? '';
    },
    urls,
    get lines() {
      return [...lines, ...members.flatMap((member) => member.lines)];
    },
    async start() {
      await Promise.all(members.map((member) => member.start()));
    },
    async kill(signal) {
      return worst(await Promise.all(members.map((member) => member.kill(signal))));
    },
    async breakEventStore() {
      storeProxy.set('cut');
    },
    async mendEventStore() {
      storeProxy.set('pass');
    },
    recordedEvents: () => recordedEvents(servers, name, Buffer.from(secretKey, 'base64')),
    async appendEvents(events) {
      const key = Buffer.from(secretKey, 'base64');
      const options = { url: servers.eventStoreUrl, installation: name, logger: silentLogger, secretKey: key };
      await appendTo(await createEventStoreDbEventStore(options), events);
    },
    set: (more) => void (further = { ...further, ...more }),
    secretKey: async () => Buffer.from(secretKey, 'base64'),
    command: (words) => runCommand(words, { ...sharedNow(), ...engines('all') }, folder),
    startCommand: (words) => startCommand(words, { ...sharedNow(), ...engines('all') }, folder),
    async rotateSecretKey() {
      const file = join(folder, `key-${randomBytes(4).toString('hex')}`);
      const words = ['secret-key', 'rotate', '--key-file', file];
      const end = await runCommand(words, { ...sharedNow(), ...engines('all') }, folder);
      if (end.exitCode === 0) secretKey = (await readFile(file, 'utf8')).trim();
      return end;
    },
    openReadStore: () => createMongoReadStore({ url: servers.readStoreUrl, installation: name, logger: silentLogger }),
    async stored() {
      const parts = await Promise.all([
        storedEvents(servers, name),
        storedViews(servers, name),
        storedMessages(servers, name),
      ]);
      return parts.flat();
    },
    async remove() {
      await Promise.all(members.filter(({ pid }) => pid !== null).map((member) => member.kill('SIGKILL')));
      await storeProxy.close();
      // What is left on the servers would be in the way of every later installation: they list all topics and collections.
      await Promise.all([dropViews(servers, name), dropMessages(servers, name)]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function recordedEvents(
  { eventStoreUrl: url }: ServerAddresses,
  installation: string,
  /** null: as they are stored. */
  secretKey: Uint8Array | null,
): Promise<readonly RecordedEvent[]> {
  const store = await createEventStoreDbEventStore({ url, installation, logger: silentLogger });
  try {
    return await everyEvent(secretKey === null ? store : createSealedEvents(store, createOwnerKeys(store, secretKey)));
  } finally {
    await store.close();
  }
}

async function storedEvents(servers: ServerAddresses, installation: string): Promise<StoredBytes[]> {
  return (await recordedEvents(servers, installation, null)).map((event) => ({
    name: `event ${event.stream}@${event.revision}`,
    bytes: Buffer.from(JSON.stringify(event)),
  }));
}

async function withCollections<Found>(
  { readStoreUrl }: ServerAddresses,
  installation: string,
  work: (collections: readonly mongo.Collection[]) => Promise<Found>,
): Promise<Found> {
  const client = await mongo.MongoClient.connect(readStoreUrl);
  try {
    const listed = await client.db().listCollections({}, { nameOnly: true }).toArray();
    const names = listed.map(({ name }) => name).filter((name) => name.startsWith(installation));
    return await work(names.map((name) => client.db().collection(name)));
  } finally {
    await client.close();
  }
}

function storedViews(servers: ServerAddresses, installation: string): Promise<StoredBytes[]> {
  return withCollections(servers, installation, async (collections) => {
    const found: StoredBytes[] = [];
    for (const collection of collections) {
      for await (const document of collection.find()) {
        found.push({
          name: `document in ${collection.collectionName}`,
          bytes: Buffer.from(JSON.stringify(document)),
        });
      }
    }
    return found;
  });
}

const dropViews = (servers: ServerAddresses, installation: string): Promise<void> =>
  withCollections(servers, installation, async (collections) => {
    for (const collection of collections) await collection.drop();
  });

function openKafka({ busUrl }: ServerAddresses): Kafka {
  const address = parseKafkaAddress(busUrl);
  if (address === null) throw new Error(`not an address of Kafka: ${busUrl}`);
  return new Kafka({ clientId: 'e2e', brokers: [...address.brokers], logLevel: logLevel.NOTHING });
}

async function dropMessages(servers: ServerAddresses, installation: string): Promise<void> {
  const admin = openKafka(servers).admin();
  await admin.connect();
  try {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(`${installation}.`));
    if (topics.length > 0) await admin.deleteTopics({ topics });
  } finally {
    await admin.disconnect();
  }
}

/** Every message there is in every topic, read up to where each partition ended when it was looked at. */
async function storedMessages(servers: ServerAddresses, installation: string): Promise<StoredBytes[]> {
  const kafka = openKafka(servers);
  const admin = kafka.admin();
  await admin.connect();
  const consumer = kafka.consumer({ groupId: `e2e-reader-${crypto.randomUUID()}` });
  try {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(installation));
    const open = new Map<string, number>();
    for (const topic of topics) {
      for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
        if (Number(high) > Number(low)) open.set(`${topic}/${partition}`, Number(high));
      }
    }
    if (open.size === 0) return [];
    const found: StoredBytes[] = [];
    const complete = Promise.withResolvers<void>();
    await consumer.connect();
    await consumer.subscribe({ topics, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ topic, partition, message }) => {
        const headers = JSON.stringify(message.headers, (_, value: unknown) => String(value));
        const bytes = Buffer.concat([
          message.key ?? Buffer.alloc(0),
          message.value ?? Buffer.alloc(0),
          Buffer.from(headers),
        ]);
        found.push({ name: `message in ${topic}`, bytes });
        const end = open.get(`${topic}/${partition}`);
        if (end !== undefined && Number(message.offset) >= end - 1) open.delete(`${topic}/${partition}`);
        if (open.size === 0) complete.resolve();
      },
    });
    await complete.promise;
    return found;
  } finally {
    await consumer.disconnect();
    await admin.disconnect();
  }
}
