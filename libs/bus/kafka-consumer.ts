/** One group that reads one topic of Kafka: later rounds go by way of the retry topic, dead letters to a topic of their own. */
import type { Logger } from '#runtime/logger';
import type { BusMessage, ConsumeOptions, MessageHandler, RecordDeadLetter } from './bus.js';
import { createMessageHandling, defaultLaterRoundsMs, type Demand, type MessageStorage } from './handle-message.js';
import type { KafkaConnection } from './kafka-client.js';
import { deadLetterHeaders } from './kafka-dead-letters.js';
import { readMessage, unreadableMessage, writeMessage } from './kafka-envelope.js';
import { startIntake, type IncomingRecord, type Intake } from './kafka-intake.js';
import type { Topics } from './kafka-topics.js';
import type { Writer } from './kafka-writer.js';

export interface ConsumerDeps {
  readonly connection: KafkaConnection & { readonly logger: Logger };
  readonly topics: Topics;
  readonly writer: Writer;
  readonly recordDeadLetter: RecordDeadLetter;
}

/** The least that brokers take. A process that died is noticed within it, and its share handed on within another second. */
const sessionTimeoutMs = 6_000;

/** Headers of the retry topic. Every group that reads the topic sees them; each takes its own. */
const header = { group: 'group', round: 'round', due: 'due-ms' } as const;

export function startConsumer(deps: ConsumerDeps, options: ConsumeOptions, handler: MessageHandler): Intake {
  const { connection, topics, writer, recordDeadLetter } = deps;
  const { topic, group, concurrency } = options;
  const retries = topics.retries(topic);
  const handleMessage = createMessageHandling({ ...options, handler, recordDeadLetter, logger: connection.logger });

  const storageFor = (record: IncomingRecord, place: string): MessageStorage => ({
    retryLater(message: BusMessage, round: number, dueAtMs: number) {
      const headers = { [header.group]: group, [header.round]: String(round), [header.due]: String(dueAtMs) };
      return writer.send(retries, [{ key: message.key, value: writeMessage(message), headers }]);
    },
    addDeadLetter({ reason, at }) {
      const headers = deadLetterHeaders({ group, reason, at, place });
      return writer.send(topics.deadLetters(topic), [{ key: record.key, value: record.value ?? '', headers }]);
    },
  });

  const handleRecord = (record: IncomingRecord, demand: Demand): Promise<boolean> => {
    const place = `${record.topic}/${record.partition}/${record.offset}`;
    const read = readMessage(record.value);
    const message = read.ok ? read.value : unreadableMessage(place, record.key, record.value, new Date().toISOString());
    const round = Number(record.headers.get(header.round) ?? 0);
    const received = { message, round, unreadable: read.ok ? null : read.reason };
    return handleMessage(received, storageFor(record, place), demand);
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
      const latestMs = Date.now() + (defaultLaterRoundsMs.at(-1) ?? 0);
      return { key, notBeforeMs: Math.min(Number.isFinite(dueMs) ? dueMs : 0, latestMs) };
    },
    work: handleRecord,
  });
}
