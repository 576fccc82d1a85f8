/** Starts each server that the distributed mode needs. A fault test restarts one on the same port and data. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MissingPart } from './downloads.ts';
import { kafkaServer, secondBroker, type Door, type KafkaUser } from './kafka/kafka.ts';
import { mongo } from './mongo/mongo.ts';
import {
  answers,
  freePort,
  isRunning,
  startDetached,
  stopProcess,
  type ProcessIdentity,
  type Program,
} from './process.ts';

export interface StartOptions {
  /** A free one is taken where none is given. */
  readonly port?: number;
  /** Made where it does not exist; a server started on it again has what it had. */
  readonly dataFolder: string;
}

export interface RunningServer extends ProcessIdentity {
  readonly url: string;
  readonly port: number;
  /** Resolves once the process is gone; without a signal it is asked to end (SIGTERM). */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

interface ServerKind {
  readonly name: string;
  /** The environment variable by which specs and the product get its address. */
  readonly variable: string;
  url(port: number): string;
  isReady(port: number): Promise<boolean>;
  /** Fetches what is missing, prepares the data folder, and says what to run. */
  prepare(port: number, dataFolder: string): Promise<Program>;
}

const eventStoreMain = fileURLToPath(new URL('eventstoredb/main.ts', import.meta.url));

/** The protocol double: EventStoreDB itself is in no package registry. */
const eventStore: ServerKind = {
  name: 'eventstoredb',
  variable: 'EVENT_STORE_URL',
  url: (port) => `esdb://127.0.0.1:${port}?tls=false`,
  isReady: (port) => answers(port, null),

  async prepare(port, dataFolder) {
    if (!existsSync(eventStoreMain)) throw new MissingPart(`There is no ${eventStoreMain}: the checkout is not whole.`);
    await mkdir(dataFolder, { recursive: true });
    return { program: process.execPath, args: [eventStoreMain, '--port', String(port), '--data', dataFolder] };
  },
};

/** In the order in which their addresses are printed. */
export const kinds: readonly ServerKind[] = [eventStore, kafkaServer(null), mongo];

const startPatienceMs = 120_000;
const stopPatienceMs = 20_000;
const pollMs = 50;

const logOf = (dataFolder: string): string => join(dataFolder, 'server.log');

/** What a server printed since `offset`, its last lines. */
async function lastWords(logFile: string, offset: number): Promise<string> {
  const text = (await readFile(logFile).catch(() => Buffer.alloc(0))).subarray(offset).toString('utf8');
  return text.trim().split('\n').slice(-15).join('\n') || '(it printed nothing)';
}

/** A server that was started earlier, perhaps by another process. */
export function attach(kind: ServerKind, port: number, identity: ProcessIdentity): RunningServer {
  return {
    ...identity,
    port,
    url: kind.url(port),
    stop: (signal = 'SIGTERM') => stopProcess(identity, signal, stopPatienceMs),
  };
}

/** Resolves once the server answers. Rejects with its last words where it ends or stays silent. */
export async function startServer(kind: ServerKind, options: StartOptions): Promise<RunningServer> {
  const { dataFolder, port = await freePort() } = options;
  const program = await kind.prepare(port, dataFolder);
  const logFile = logOf(dataFolder);
  const offset = (await stat(logFile).catch(() => null))?.size ?? 0;
  const server = attach(kind, port, await startDetached(program, logFile));
  for (const until = Date.now() + startPatienceMs; Date.now() < until; await wait(pollMs)) {
    if (!(await isRunning(server))) {
      throw new Error(`${kind.name} ended while it started:\n${await lastWords(logFile, offset)}\n(${logFile})`);
    }
    if ((await kind.isReady(port)) && (await isRunning(server))) return server;
  }
  await server.stop('SIGKILL');
  const words = await lastWords(logFile, offset);
  throw new Error(`${kind.name} did not answer within ${startPatienceMs / 1000} s:\n${words}\n(${logFile})`);
}

export const startEventStore = (options: StartOptions): Promise<RunningServer> => startServer(eventStore, options);
/** `user`: who may come, by TLS alone; everybody, in clear, where it is left out. */
export const startKafka = ({
  user,
  door,
  ...options
}: StartOptions & { readonly user?: KafkaUser; readonly door?: Door }): Promise<RunningServer> =>
  startServer(kafkaServer(user ?? null, door ?? null), options);
/** `first`: the data folder of a broker that runs, in clear. */
export const startSecondBroker = ({
  first,
  ...options
}: StartOptions & { readonly first: string }): Promise<RunningServer> => startServer(secondBroker(first), options);
export const startMongo = (options: StartOptions): Promise<RunningServer> => startServer(mongo, options);
