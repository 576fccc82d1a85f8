/** What can happen to services in processes of their own, to the servers between them, and to the lines that connect all. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { distributedInstallation, type Member } from '../e2e/kit/distributed.js';
import type { ServerAddresses } from '../e2e/kit/servers.js';
import { startTcpProxy, type Passage, type TcpProxy } from '../e2e/kit/tcp-proxy.js';
import type { World } from '../e2e/kit/watch.js';
import { startEventStore, startKafka, startMongo, type RunningServer } from '../servers/servers.ts';
import { between, lasting, type Fault } from './fault.js';
import type { Scene } from './scene.js';

/** Each role for itself, two processes of each. */
const layout = ['gateway', 'accounts', 'tasks', 'scheduling', 'execution', 'rendering', 'delivery'];
/** Behind the second door of the broker: they can be parted from all the others. */
const farRoles = ['execution', 'delivery'];

interface Server {
  readonly name: string;
  running: RunningServer;
  start(): Promise<RunningServer>;
}

async function serverOf(name: string, start: (port?: number) => Promise<RunningServer>): Promise<Server> {
  const running = await start();
  return { name, running, start: () => start(running.port) };
}

const pick = <Item>(items: readonly Item[], random: () => number): Item => {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
};

async function killAndRestart(server: Server, downMs: number): Promise<void> {
  await server.running.stop('SIGKILL');
  await lasting(downMs);
  server.running = await server.start();
}

/** Copies of what passes, sent again after a while: repeats, delays and another order than the first time. */
async function startRepeater(busUrl: string, installation: string) {
  const brokers = [new URL(busUrl.replace('kafka:', 'http:')).host];
  // A consumer that failed begins again by a timer that `disconnect` does not end: few and short tries, so that one that is
  // under way when all is closed is over soon, and is the last.
  let isClosed = false;
  const retry = { retries: 5, maxRetryTime: 1_000 };
  const kafka = new Kafka({ clientId: 'repeater', brokers, logLevel: logLevel.NOTHING, retry });
  const groupId = `repeater-${installation}`;
  const consumer = kafka.consumer({ groupId, retry: { ...retry, restartOnFailure: async () => !isClosed } });
  const producer = kafka.producer({ retry });
  let share = 0;
  let repeated = 0;
  const waiting = new Set<NodeJS.Timeout>();
  await Promise.all([consumer.connect(), producer.connect()]);
  await consumer.subscribe({
    topics: ['task', 'schedule', 'rendering', 'run', 'delivery'].map((topic) => `${installation}.${topic}`),
  });
  await consumer.run({
    eachMessage: async ({ topic, message: { key, value, headers = {} } }) => {
      if (Math.random() >= share || 'repeated' in headers) return;
      const timer = setTimeout(() => {
        waiting.delete(timer);
        const messages = [{ key, value, headers: { ...headers, repeated: '1' } }];
        producer.send({ topic, messages, acks: -1 }).then(
          () => (repeated += 1),
          () => undefined,
        );
      }, Math.random() * 8_000);
      waiting.add(timer);
    },
  });
  return {
    set: (part: number) => void (share = part),
    count: () => repeated,
    async close() {
      isClosed = true;
      for (const timer of waiting) clearTimeout(timer);
      await Promise.allSettled([consumer.disconnect(), producer.disconnect()]);
    },
  };
}

function memberFaults(members: readonly Member[]): Fault[] {
  return [
    {
      name: 'kill -9 of a process',
      isKill: true,
      weight: 8,
      async happen(random) {
        const member = pick(members, random);
        await member.kill('SIGKILL');
        await lasting(between(random, 0, 3_000));
        await member.start();
      },
    },
    {
      name: 'kill -9 of both processes of a role',
      isKill: true,
      weight: 2,
      async happen(random) {
        const { roles } = pick(members, random);
        const both = members.filter((member) => member.roles === roles);
        await Promise.all(both.map((member) => member.kill('SIGKILL')));
        await lasting(between(random, 0, 3_000));
        await Promise.all(both.map((member) => member.start()));
      },
    },
    {
      name: 'SIGSTOP, SIGCONT of a process',
      isKill: false,
      weight: 2,
      async happen(random) {
        const member = pick(members, random);
        member.signal('SIGSTOP');
        await lasting(between(random, 1_000, 12_000));
        member.signal('SIGCONT');
      },
    },
    {
      name: 'a slow process',
      isKill: false,
      weight: 1,
      async happen(random) {
        const member = pick(members, random);
        for (let step = 0; step < 30; step += 1) {
          member.signal('SIGSTOP');
          await lasting(150);
          member.signal('SIGCONT');
          await lasting(50);
        }
      },
    },
    {
      name: 'SIGTERM of a process',
      isKill: false,
      weight: 1,
      async happen(random) {
        const member = pick(members, random);
        await member.kill('SIGTERM');
        await member.start();
      },
    },
  ];
}

export async function distributedScene({ mails }: World): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-chaos-'));
  const busDoorPort = 20_000 + Math.floor(Math.random() * 2_000);
  const busDoor = await startTcpProxy({ host: '127.0.0.1', port: busDoorPort });
  const door = { port: busDoorPort, advertisedPort: busDoor.port };
  const at = (name: string, port?: number) => ({
    dataFolder: join(folder, name),
    ...(port === undefined ? {} : { port }),
  });
  const eventStore = await serverOf('event store', (port) => startEventStore(at('eventstoredb', port)));
  const kafka = await serverOf('broker', (port) => startKafka({ ...at('kafka', port), door }));
  const mongo = await serverOf('Mongo-wire server', (port) => startMongo(at('mongo', port)));
  const servers: ServerAddresses = {
    eventStoreUrl: eventStore.running.url,
    busUrl: kafka.running.url,
    readStoreUrl: mongo.running.url,
  };
  const storeLine = await startTcpProxy({ host: '127.0.0.1', port: eventStore.running.port });
  const viewsLine = await startTcpProxy({ host: '127.0.0.1', port: mongo.running.port });
  const addressesFor = (roles: string): ServerAddresses => ({
    eventStoreUrl: `esdb://127.0.0.1:${storeLine.port}?tls=false`,
    busUrl: farRoles.includes(roles) ? `kafka://127.0.0.1:${busDoor.port}` : servers.busUrl,
    readStoreUrl: `mongodb://127.0.0.1:${viewsLine.port}/meerkat?directConnection=true`,
  });
  const installation = await distributedInstallation(servers, { smtpUrl: mails.url, layout, addressesFor });
  await installation.start();
  const repeater = await startRepeater(servers.busUrl, installation.name);
  const { members } = installation;

  const line = (name: string, weight: number, proxy: TcpProxy, passage: Passage): Fault => ({
    name,
    isKill: false,
    weight,
    async happen(random) {
      proxy.set(passage);
      await lasting(between(random, 1_000, 10_000));
      proxy.set('pass');
    },
  });
  const restart = (server: Server, weight: number): Fault => ({
    name: `${server.name} killed and started again`,
    isKill: false,
    weight,
    happen: (random) => killAndRestart(server, between(random, 0, 4_000)),
  });
  const faults: Fault[] = [
    ...memberFaults(members),
    restart(kafka, 0.7),
    restart(mongo, 1),
    restart(eventStore, 1),
    line('the event store cut off', 1, storeLine, 'cut'),
    line('the event store stalled', 1, storeLine, 'stall'),
    line('the views cut off', 1, viewsLine, 'cut'),
    line('execution and delivery parted from the others', 1, busDoor, 'cut'),
    line('execution and delivery hear nothing of the others', 1, busDoor, 'stall'),
    {
      name: 'messages repeated, late and out of order',
      isKill: false,
      weight: 1.5,
      async happen(random) {
        repeater.set(0.5);
        await lasting(between(random, 3_000, 8_000));
        repeater.set(0);
      },
    },
  ];
  return {
    name: 'distributed',
    installation,
    faults,
    async isReady() {
      const urls = members.flatMap(({ url }) => url ?? []);
      const answers = await Promise.all(urls.map(async (url) => (await fetch(`${url}/readyz`)).ok));
      return urls.length === members.length && answers.every(Boolean);
    },
    async close() {
      await repeater.close();
      await installation.remove();
      await Promise.all([storeLine.close(), viewsLine.close(), busDoor.close()]);
      await Promise.all([eventStore, kafka, mongo].map(({ running }) => running.stop('SIGKILL')));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
