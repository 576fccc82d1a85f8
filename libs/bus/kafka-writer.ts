/**
 * Writes to topics. Per topic one batch is on its way at a time and what comes meanwhile makes up the next one: that keeps
 * the order of a key when a batch is sent again, and needs no timer to fill batches.
 */
import { Partitioners, type Producer } from 'kafkajs';
import { sleep } from '#concurrency/sleep';
import { withTimeout, withTimeoutOr } from '#concurrency/timeout';
import { reject, type AppError } from '#runtime/errors';
import {
  busUnavailable,
  openClient,
  protocolErrorsOf,
  type KafkaClient,
  type KafkaConnection,
} from './kafka-client.js';
import { maxMessageBytes, type Topic, type Topics } from './kafka-topics.js';

export interface Outgoing {
  /** Messages of one key stay in order; null: anywhere. */
  readonly key: string | null;
  readonly value: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Writer {
  /** Durable when it resolves. Rejects with `bus_unavailable` in time; it may then still have been written. */
  send(topic: Topic, messages: readonly Outgoing[], patienceMs?: number): Promise<void>;
  /** Waits for what is on its way. */
  close(): Promise<void>;
}

interface Sending {
  readonly messages: readonly Outgoing[];
  readonly bytes: number;
  readonly until: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Lane {
  readonly topic: Topic;
  readonly waiting: Sending[];
  waitingBytes: number;
  running: Promise<void> | null;
}

/** A producer takes no more work after its first failure, and ends when what it was sending is settled. */
interface Line {
  readonly client: KafkaClient;
  readonly producer: Producer;
  readonly connected: Promise<void>;
  inFlight: number;
  isRetired: boolean;
}

const defaultPatienceMs = 5_000;
const batchMessages = 1_000;
const batchBytes = 512 * 1_024;
const waitingBytesMost = 64 * 1_024 * 1_024;
const betweenTriesMs = 100;
/** Room for headers, key and the record itself below the topic's limit. */
const contentBytesMost = maxMessageBytes - 64 * 1_024;

const tooLarge = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
const gone = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_ID']);

const messageTooLarge = (topic: Topic): AppError =>
  reject('message_too_large', `A message for ${topic.name} is larger than the bus takes (${contentBytesMost} bytes).`);

export function createWriter(connection: KafkaConnection, topics: Topics): Writer {
  const lanes = new Map<string, Lane>();
  let line: Line | null = null;
  let isClosed = false;

  const openLine = (): Line => {
    const client = openClient(connection);
    const producer = client.kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      // Tried again here, on a new connection, until the caller's deadline.
      retry: { retries: 1 },
    });
    return { client, producer, connected: producer.connect(), inFlight: 0, isRetired: false };
  };

  const endIfIdle = (retired: Line): void => {
    if (retired.inFlight > 0) return;
    retired.producer.disconnect().catch(() => undefined);
    retired.client.cut();
  };

  const retire = (failed: Line): void => {
    failed.isRetired = true;
    if (line === failed) line = null;
  };

  /** One try. A client that failed once is not trusted again: its picture of the cluster is stale. */
  const attempt = async (topic: Topic, batch: readonly Outgoing[], patienceMs: number): Promise<void> => {
    await topics.ensure(topic);
    line ??= openLine();
    const used = line;
    used.inFlight += 1;
    const send = async (): Promise<void> => {
      await used.connected;
      await used.producer.send({
        topic: topic.name,
        acks: -1,
        timeout: 4_000,
        messages: batch.map(({ key, value, headers }) => ({
          key,
          value,
          ...(headers === undefined ? {} : { headers }),
        })),
      });
    };
    const sent = send();
    try {
      await withTimeout(sent, patienceMs, () => busUnavailable(`Kafka did not take ${topic.name} within its time.`));
    } catch (error) {
      sent.catch(() => undefined);
      retire(used);
      if (protocolErrorsOf(error).some((word) => gone.has(word))) topics.forget(topic);
      throw error;
    } finally {
      used.inFlight -= 1;
      if (used.isRetired) endIfIdle(used);
    }
  };

  const takeBatch = (lane: Lane): Sending[] => {
    const batch: Sending[] = [];
    let messages = 0;
    let bytes = 0;
    for (let next = lane.waiting[0]; next !== undefined; next = lane.waiting[0]) {
      if (batch.length > 0 && (messages + next.messages.length > batchMessages || bytes + next.bytes > batchBytes))
        break;
      messages += next.messages.length;
      bytes += next.bytes;
      lane.waitingBytes -= next.bytes;
      batch.push(next);
      lane.waiting.shift();
    }
    return batch;
  };

  /** Tries until it is written or every caller's deadline has passed. */
  const writeBatch = async (topic: Topic, batch: readonly Sending[]): Promise<void> => {
    let open = batch;
    let last: unknown = null;
    for (;;) {
      const late = open.filter(({ until }) => until <= Date.now());
      const error = busUnavailable('The bus could not be written in time; the message may still arrive.', last);
      for (const sending of late) sending.reject(error);
      open = open.filter((sending) => !late.includes(sending));
      if (open.length === 0) return;
      try {
        const patienceMs = Math.min(...open.map(({ until }) => until)) - Date.now();
        const messages = open.flatMap((sending) => sending.messages);
        await attempt(topic, messages, patienceMs);
        for (const sending of open) sending.resolve();
        return;
      } catch (failure) {
        last = failure;
        if (protocolErrorsOf(failure).some((word) => tooLarge.has(word))) {
          // The protocol does not say which message is too large: each is sent alone.
          if (open.length > 1) {
            for (const sending of open) await writeBatch(topic, [sending]);
          } else {
            for (const sending of open) sending.reject(messageTooLarge(topic));
          }
          return;
        }
        await sleep(betweenTriesMs * (0.5 + Math.random()));
      }
    }
  };

  const drain = async (lane: Lane): Promise<void> => {
    while (lane.waiting.length > 0) await writeBatch(lane.topic, takeBatch(lane));
    lane.running = null;
  };

  return {
    async send(topic, messages, patienceMs = defaultPatienceMs) {
      if (messages.length === 0) return;
      if (isClosed) throw busUnavailable('The bus is closed; try again after the restart.');
      const sizes = messages.map(({ value }) => Buffer.byteLength(value));
      if (sizes.some((size) => size > contentBytesMost)) throw messageTooLarge(topic);
      const lane = lanes.get(topic.name) ?? { topic, waiting: [], waitingBytes: 0, running: null };
      lanes.set(topic.name, lane);
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      if (lane.waiting.length > 0 && lane.waitingBytes + bytes > waitingBytesMost) {
        throw busUnavailable(`Too much is waiting to be written to ${topic.name}; try again.`);
      }
      await new Promise<void>((resolve, refuse) => {
        lane.waiting.push({ messages, bytes, until: Date.now() + patienceMs, resolve, reject: refuse });
        lane.waitingBytes += bytes;
        lane.running ??= drain(lane);
      });
    },

    async close() {
      isClosed = true;
      await Promise.all([...lanes.values()].map(async ({ running }) => running));
      const last = line;
      if (last === null) return;
      retire(last);
      await withTimeoutOr(last.producer.disconnect(), 2_000, undefined).catch(() => undefined);
      last.client.cut();
    },
  };
}
