/**
 * A connection to MongoDB as the stores on it use it: what is written waits for a majority's journal, what is read comes
 * from the primary, and nothing waits without end. Of mongoose the connection is used, not its models.
 */
import mongoose, { mongo } from 'mongoose';
import { withTimeout } from '#concurrency/timeout';
import { ConfigError } from '#runtime/config';
import { AppError } from '#runtime/errors';
import type { Logger } from '#runtime/logger';

export const writeConcern = { w: 'majority', journal: true } as const;

export interface MongoOptions {
  /** `mongodb://…`; its path names the database, `meerkat` where it has none. */
  readonly url: string;
  /** Under which name the server lists the connection. */
  readonly appName: string;
  /** What the log says when the server is lost, and when it is there again. */
  readonly words: { readonly away: string; readonly back: string };
  /** Each round trip is given up after this long. */
  readonly patienceMs: number;
  /** The error of a server that refuses or takes too long. */
  readonly outOfReach: (cause: unknown) => AppError;
  readonly logger: Logger;
}

export interface MongoConnection {
  readonly database: mongo.Db;
  /** Waits for a round trip, `timeoutMs` at most. Rejects as `outOfReach` says where the server refuses or takes too long. */
  within<T>(work: Promise<T>, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}

/** Selecting a server takes less than the patience, so that its own words become the cause of what is rejected. */
const selectionMs = 3_000;
const defaultDatabase = 'meerkat';
/** By name: the class of the first comes from a package of its own. */
const addressFaults = ['MongoParseError', 'MongoInvalidArgumentError', 'MongoRuntimeError', 'URIError'];

class TooLate extends Error {}

/** Of a server that answers and takes no writes: not the primary, or on its way from it. */
const notPrimaryCodes: ReadonlySet<unknown> = new Set([10_107, 13_435, 10_058, 11_602, 189]);

/** What the driver knows of a set when it finds no server for a call. */
interface SetAsSeen {
  readonly type?: unknown;
  readonly servers?: ReadonlyMap<string, { readonly type?: unknown }>;
}

/** Whether the set has members, and none of them takes writes. A set of which nobody answers is away as a whole. */
export function hasNoPrimary(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { reason, code } = error as { readonly reason?: SetAsSeen | null; readonly code?: unknown };
  if (notPrimaryCodes.has(code)) return true;
  if (reason?.type !== 'ReplicaSetNoPrimary') return false;
  return [...(reason.servers?.values() ?? [])].some(({ type }) => type !== 'Unknown');
}

function begin({ url, appName, patienceMs }: MongoOptions): mongoose.Connection {
  const named = /^[^/]+\/\/[^/?]+\/([^?]+)/.exec(url)?.[1];
  return mongoose.createConnection(url, {
    dbName: named === undefined ? defaultDatabase : decodeURIComponent(named),
    appName,
    serverSelectionTimeoutMS: selectionMs,
    connectTimeoutMS: selectionMs,
    waitQueueTimeoutMS: patienceMs,
    // A server that hangs is noticed by its missing heartbeat, and what waits for it is given up.
    heartbeatFrequencyMS: 2_000,
    writeConcern,
    readConcern: { level: 'local' },
    readPreference: 'primary',
    bufferCommands: false,
    autoCreate: false,
    autoIndex: false,
  });
}

/** Rejects as `outOfReach` says where no server answers, with `ConfigError` where the address cannot be read. */
export async function openMongo(options: MongoOptions): Promise<MongoConnection> {
  const { words, patienceMs, outOfReach, logger } = options;

  const within = async <T>(work: Promise<T>, timeoutMs = patienceMs): Promise<T> => {
    try {
      return await withTimeout(work, timeoutMs, () => new TooLate(`no answer within ${timeoutMs} ms`));
    } catch (error) {
      if (error instanceof mongo.MongoError || error instanceof TooLate) throw outOfReach(error);
      throw error;
    }
  };

  let connection: mongoose.Connection | null = null;
  try {
    connection = begin(options);
    await within(connection.asPromise());
  } catch (error) {
    await connection?.destroy();
    const cause = error instanceof AppError ? error.cause : error;
    if (cause instanceof Error && addressFaults.includes(cause.name)) {
      throw new ConfigError([`READ_STORE_URL: ${cause.message}.`]);
    }
    throw error instanceof AppError ? error : outOfReach(error);
  }
  const opened = connection;
  opened.on('disconnected', () => logger.warn({}, words.away));
  opened.on('reconnected', () => logger.info({}, words.back));
  // Without a listener an error event would end the process; what failed is told to who asked for it.
  opened.on('error', () => undefined);
  return {
    database: opened.getClient().db(opened.name),
    within,
    async close() {
      opened.removeAllListeners('disconnected');
      await opened.close();
    },
  };
}
