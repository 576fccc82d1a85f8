/** Connections to Kafka: one client per producer, consumer or errand, which can be cut off whatever state it is in. */
import { connect as connectPlainly, isIP, Socket } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import { Kafka, logLevel, type Admin, type ISocketFactory, type LogEntry, type SASLOptions } from 'kafkajs';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { withTimeout } from '#concurrency/timeout';
import { AppError, unavailable } from '#runtime/errors';
import { createCountedLines, type CountedLines } from '#runtime/counted-lines';
import type { Logger } from '#runtime/logger';

export interface KafkaConnection {
  /** `host:port` each. */
  readonly brokers: readonly string[];
  readonly tls: boolean;
  readonly credentials: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  } | null;
  /** Begins the name of every topic and group. */
  readonly installation: string;
  readonly processName: string;
  readonly logger: Logger;
}

export interface KafkaClient {
  readonly kafka: Kafka;
  /**
   * Ends every connection and refuses new ones. A kafkajs consumer that is stopped while it joins goes on for ever and
   * keeps its share of the partitions; without a connection it cannot.
   */
  cut(): void;
}

const keepAliveMs = 60_000;
const pendingCheckMs = 10;

export function busUnavailable(message: string, cause?: unknown): AppError {
  return unavailable('bus_unavailable', message, 1, cause);
}

/** kafkajs wraps errors in errors: the protocol's word (`UNKNOWN_TOPIC_OR_PARTITION`) may be on any of them. */
export function protocolErrorsOf(error: unknown): readonly string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { type, cause, errors } = error as { type?: unknown; cause?: unknown; errors?: unknown };
  const inner = Array.isArray(errors) ? errors.flatMap(protocolErrorsOf) : [];
  return [...(typeof type === 'string' ? [type] : []), ...protocolErrorsOf(cause), ...inner];
}

/**
 * In kafkajs 2.2.4 this sets a timer for a moment in the past whether or not a request waits, and the timer sets the next
 * one: a thousand a second for each connection, each with a TimeoutNegativeWarning. Here it is set where a request waits.
 */
RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
  const check = (): void => {
    this.throttleCheckTimeoutId = null;
    this.checkPendingRequests();
  };
  this.throttleCheckTimeoutId = setTimeout(check, Math.max(this.throttledUntil - Date.now(), pendingCheckMs));
};

/** Per logger: while a broker is away, every client says the same several times a second. */
const warnings = new WeakMap<Logger, CountedLines>();

function warningsOf(logger: Logger): CountedLines {
  const known = warnings.get(logger) ?? createCountedLines(logger);
  warnings.set(logger, known);
  return known;
}

/**
 * What kafkajs calls an error is mostly something it tries again; an error in a response or of a producer
 * reaches its caller. The lines that count are written by our own code.
 */
function writeLog(logger: Logger, { level, namespace, log: { message, ...fields } }: LogEntry): void {
  const { error, broker, groupId } = fields as { error?: string | Error; broker?: unknown; groupId?: unknown };
  const shown = { kafkajs: namespace, broker, group: groupId, error: error === undefined ? undefined : String(error) };
  const isToldOtherwise = namespace === 'Producer' || /^(Response|Crash:) /.test(message);
  if (level === logLevel.ERROR && !isToldOtherwise) warningsOf(logger).warn(`${namespace}: ${message}`, shown, message);
  else logger.debug(shown, message);
}

function saslOf({ mechanism, username, password }: NonNullable<KafkaConnection['credentials']>): SASLOptions {
  return { mechanism, username, password };
}

/** `initialRetryMs`: before what failed is tried the second of four times; each wait is twice the one before. */
export function openClient(connection: KafkaConnection, initialRetryMs = 100): KafkaClient {
  const sockets = new Set<Socket>();
  let isCut = false;

  const socketFactory: ISocketFactory = ({ host, port, onConnect }) => {
    if (isCut) {
      const refused = new Socket();
      process.nextTick(() => refused.destroy(new Error('this connection to Kafka was closed')));
      return refused;
    }
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const socket = connection.tls
      ? connectByTls({ host, port, ...servername }, onConnect)
      : connectPlainly({ host, port }, onConnect);
    // Several small requests are on their way at once: with Nagle's algorithm one waits for another's acknowledgement.
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveMs);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };

  const kafka = new Kafka({
    clientId: `${connection.installation}.${connection.processName}`,
    brokers: [...connection.brokers],
    ...(connection.tls ? { ssl: true } : {}),
    ...(connection.credentials === null ? {} : { sasl: saslOf(connection.credentials) }),
    connectionTimeout: 2_000,
    authenticationTimeout: 4_000,
    requestTimeout: 4_000,
    enforceRequestTimeout: true,
    // Its own restart is off: it would come back on topics that may be gone, and not at all after a TypeError.
    retry: {
      initialRetryTime: initialRetryMs,
      maxRetryTime: 1_000,
      factor: 0.2,
      multiplier: 2,
      retries: 3,
      restartOnFailure: async () => false,
    },
    logLevel: logLevel.WARN,
    // A connection that was ended on purpose is no fault.
    logCreator: () => (entry) => (isCut ? undefined : writeLog(connection.logger, entry)),
    socketFactory,
  });

  return {
    kafka,
    cut() {
      isCut = true;
      // Without an error kafkajs does not notice, and waits on.
      for (const socket of sockets) socket.destroy(new Error('this connection to Kafka was closed'));
    },
  };
}

/** An errand: topics, offsets, health. Rejects with `bus_unavailable` where it is not done in time. */
export async function withAdmin<T>(
  connection: KafkaConnection,
  patienceMs: number,
  work: (admin: Admin) => Promise<T>,
  initialRetryMs?: number,
): Promise<T> {
  const client = openClient(connection, initialRetryMs);
  const admin = client.kafka.admin();
  const errand = async (): Promise<T> => {
    await admin.connect();
    const result = await work(admin);
    await admin.disconnect();
    return result;
  };
  const running = errand();
  try {
    return await withTimeout(running, patienceMs, () =>
      busUnavailable(`Kafka (${connection.brokers.join(', ')}) did not answer within ${patienceMs} ms.`),
    );
  } catch (error) {
    if (error instanceof AppError) throw error;
    const words = protocolErrorsOf(error).join(', ');
    throw busUnavailable(`Kafka (${connection.brokers.join(', ')}) could not do it: ${words || String(error)}`, error);
  } finally {
    client.cut();
    // Past its deadline it ends by itself now that its connection is gone.
    running.catch(() => undefined);
  }
}
