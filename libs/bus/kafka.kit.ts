/** What the specs of the Kafka bus share: installations of their own, raw records, and members that can be killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Message } from 'kafkajs';
import { parseKafkaAddress } from '#runtime/engine-address';
import { silentLogger } from '#runtime/logger';
import { openClient, withAdmin, type KafkaConnection } from './kafka-client.js';

/** A connection under a name nobody else uses. `url`: the value of BUS_URL, or a broker's own address. */
export function ownInstallation(url: string | undefined): KafkaConnection {
  const address = parseKafkaAddress(url ?? '');
  if (address === null) {
    throw new Error('Set BUS_URL to a Kafka broker; `npm run servers -- up kafka` starts one and prints its address.');
  }
  const installation = `spec-${randomBytes(6).toString('hex')}`;
  return { ...address, installation, processName: 'spec', logger: silentLogger };
}

export async function dropInstallation(connection: KafkaConnection): Promise<void> {
  await withAdmin(connection, 10_000, async (admin) => {
    const topics = (await admin.listTopics()).filter((name) => name.startsWith(`${connection.installation}.`));
    if (topics.length > 0) await admin.deleteTopics({ topics });
  });
}

/**
 * As any other program could write to a topic. The topic is served (`bus.ready()`): a batch for one that was just made is
 * sent again as a whole for the sake of one partition, and the others hold it twice.
 */
export async function writeRaw(connection: KafkaConnection, topic: string, messages: Message[]): Promise<void> {
  const { kafka, cut } = openClient(connection);
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  await producer.send({ topic: `${connection.installation}.${topic}`, messages });
  await producer.disconnect();
  cut();
}

export interface MemberProcess {
  /** Resolves with the first line it prints, from now on, that begins so. */
  line(beginning: string): Promise<string>;
  readonly lines: readonly string[];
  kill(signal: NodeJS.Signals): Promise<void>;
}

const here = fileURLToPath(new URL('.', import.meta.url));

/** Runs a program in a process of its own; in it `bus` is open and `say(text)` prints a line. */
export async function startMemberProcess(connection: KafkaConnection, program: string): Promise<MemberProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-member-'));
  const outfile = join(folder, 'member.cjs');
  const options = { ...connection, logger: undefined, processName: 'member' };
  const contents = `
    import { createKafkaBus } from './kafka.js';
    const quiet = { debug() {}, info() {}, warn() {}, error() {} };
    const say = (text) => process.stdout.write(text + '\\n');
    async function main() {
      const bus = await createKafkaBus({ ...${JSON.stringify(options)}, logger: quiet });
      ${program}
      await bus.ready();
      say('ready');
    }
    main().catch((error) => { say('failed ' + error); process.exit(1); });
  `;
  await build({
    stdin: { contents, resolveDir: here, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
  });
  const child: ChildProcess = spawn(process.execPath, [outfile], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines: string[] = [];
  let wake = (): void => undefined;
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      wake();
    });
  }
  const member: MemberProcess = {
    lines,
    async line(beginning) {
      for (;;) {
        const found = lines.find((line) => line.startsWith(beginning));
        if (found !== undefined) return found;
        const failure = lines.find((line) => line.startsWith('failed '));
        if (failure !== undefined) throw new Error(failure);
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    async kill(signal) {
      child.kill(signal);
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
  await member.line('ready');
  return member;
}
