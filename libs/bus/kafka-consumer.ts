/** Hands messages of a topic to a handler: fast tries, then later rounds by way of the retry topic, then the parking place. */
import { AppError } from '#runtime/errors';
import type { BusMessage, ConsumeOptions, MessageHandler, ParkedMessage } from './bus.js';
import { pause, withDeadline } from './deadline.js';
import type { KafkaConnection } from './kafka-client.js';
import { readMessage, unreadableMessage, writeMessage } from './kafka-envelope.js';
import { startIntake, type IncomingRecord, type Intake } from './kafka-intake.js';
import { parkedHeaders } from './kafka-parked.js';
import type { Topics } from './kafka-topics.js';
import type { Writer } from './kafka-writer.js';

export interface ConsumerParts {
  readonly connection: KafkaConnection;
  readonly topics: Topics;
  readonly writer: Writer;
  readonly onParked: (parked: ParkedMessage) => Promise<void>;
}

/** Three tries at once, with full jitter up to these waits; then the message steps aside and its key goes on. */
const fastTriesMs = [50, 200] as const;
/** Waits before each later round of fast tries; then the message is parked, but in an outage tried on at the last pace. */
const laterRoundsMs = [1_000, 5_000, 15_000] as const;
/** Before a message is tried again that can neither be handled nor be set aside, as without a broker. */
const stuckMs = 1_000;
/** Who is told of a parked message gets three chances: the message itself is safe by then. */
const tellAgainMs = [1_000, 5_000] as const;
/** The least that brokers take. A process that died is noticed within it, and its share handed on within another second. */
const sessionTimeoutMs = 6_000;

interface Failure {
  readonly reason: string;
  /** A part is out of reach: that goes by, so the message is tried until then. */
  readonly isOutage: boolean;
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof AppError)) return { reason: String(error), isOutage: false };
  return { reason: `${error.reason}: ${error.message}`, isOutage: error.code === 'SERVER_ERROR' };
}

/** Headers of the retry topic. Every group that reads the topic sees them; each takes its own. */
const header = { group: 'group', round: 'round', due: 'due-ms' } as const;

export function startConsumer(parts: ConsumerParts, options: ConsumeOptions, handler: MessageHandler): Intake {
  const { connection, topics, writer, onParked } = parts;
  const { logger } = connection;
  const { topic, group, concurrency, handlerTimeoutMs } = options;
  const retries = topics.retries(topic);
  const parkingPlace = topics.parked(topic);

  const handleOnce = (message: BusMessage): Promise<void> =>
    withDeadline(
      // Called in here, so that a handler that throws before its first await is a rejection too.
      Promise.resolve(message).then(handler),
      handlerTimeoutMs,
      () => new Error(`the handler took longer than ${handlerTimeoutMs} ms`),
    );

  /** Rejects where the parking place cannot be written. */
  const park = async (record: IncomingRecord, message: BusMessage, reason: string): Promise<void> => {
    const parkedAt = new Date().toISOString();
    const place = `${record.topic}/${record.partition}/${record.offset}`;
    const headers = parkedHeaders({ group, reason, parkedAt, place });
    await writer.send(parkingPlace, [{ key: record.key, value: record.value ?? '', headers }]);
    logger.error({ topic, group, messageId: message.id, type: message.type, place, reason }, 'a message was parked');
    for (const waitMs of [...tellAgainMs, null]) {
      try {
        return await onParked({ message, topic, group, reason, parkedAt });
      } catch (error) {
        logger.error({ topic, group, messageId: message.id, error: String(error) }, 'a parked message was not told of');
      }
      if (waitMs !== null) await pause(waitMs);
    }
  };

  const setAside = async (
    record: IncomingRecord,
    message: BusMessage,
    round: number,
    { reason, isOutage }: Failure,
  ): Promise<void> => {
    const laterMs = laterRoundsMs[round] ?? (isOutage ? laterRoundsMs.at(-1) : undefined);
    if (laterMs === undefined) return park(record, message, reason);
    logger.warn({ topic, group, messageId: message.id, type: message.type, reason }, 'a message will be tried again');
    const headers = {
      [header.group]: group,
      [header.round]: String(round + 1),
      [header.due]: String(Date.now() + laterMs),
    };
    await writer.send(retries, [{ key: message.key, value: writeMessage(message), headers }]);
  };

  /** True once it is handled or set aside. False where it is wanted no more: whoever has the partition gets it again. */
  const handle = async (record: IncomingRecord, isWanted: () => boolean): Promise<boolean> => {
    const read = readMessage(record.value);
    const round = Number(record.headers.get(header.round) ?? 0);
    while (isWanted()) {
      let failure: Failure = { reason: '', isOutage: false };
      if (read.ok) {
        for (const waitMs of [0, ...fastTriesMs]) {
          if (waitMs > 0) await pause(Math.random() * waitMs);
          try {
            await handleOnce(read.value);
            return true;
          } catch (error) {
            failure = failureOf(error);
          }
        }
      }
      try {
        if (read.ok) {
          await setAside(record, read.value, round, failure);
        } else {
          const place = `${record.topic}/${record.partition}/${record.offset}`;
          const stand = unreadableMessage(place, record.key, record.value, new Date().toISOString());
          await park(record, stand, `unreadable: ${read.reason}`);
        }
        return true;
      } catch (error) {
        const fields = { topic, group, offset: record.offset, reason: failure.reason, error: String(error) };
        logger.error(fields, 'a message can be neither handled nor set aside; trying again');
      }
      if (isWanted()) await pause(stuckMs);
    }
    return false;
  };

  return startIntake(connection, topics, {
    groupId: `${connection.installation}.${topic}.${group}`,
    topics: [topics.messages(topic), retries],
    sessionTimeoutMs,
    concurrency,
    committedWhen: 'handled',
    plan({ topic: source, key, headers }) {
      if (source !== retries.name) return { key };
      const owner = headers.get(header.group);
      // Without a name it is everybody's, that is, unreadable for the first who comes.
      if (owner !== undefined && owner !== group) return { skip: true };
      const dueMs = Number(headers.get(header.due) ?? 0);
      // A clock that is far off must not hold a message for ever.
      const latestMs = Date.now() + (laterRoundsMs.at(-1) ?? 0);
      return { key, notBeforeMs: Math.min(Number.isFinite(dueMs) ? dueMs : 0, latestMs) };
    },
    work: handle,
  });
}
