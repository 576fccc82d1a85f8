/** The dead letters of a topic: what was given up on, by which group, why. Read for operators, so without a group of its own. */
import { randomUUID } from 'node:crypto';
import type { KafkaMessage } from 'kafkajs';
import { withTimeout, withTimeoutOr } from '#concurrency/timeout';
import type { DeadLetter } from './bus.js';
import { busUnavailable, openClient, protocolErrorsOf, withAdmin, type KafkaConnection } from './kafka-client.js';
import { readMessage, unreadableMessage } from './kafka-envelope.js';
import type { Topic } from './kafka-topics.js';

const patienceMs = 10_000;

interface DeadLetterFacts {
  readonly group: string;
  readonly reason: string;
  readonly at: string;
  /** `topic/partition/offset` where it came from. */
  readonly place: string;
}

export function deadLetterHeaders({ group, reason, at, place }: DeadLetterFacts): Record<string, string> {
  return { group, reason, 'parked-at': at, place };
}

function toDeadLetter(topic: string, { key, value, headers, timestamp }: KafkaMessage): DeadLetter {
  const text = (name: string): string => {
    const content = headers?.[name];
    return Buffer.isBuffer(content) ? content.toString('utf8') : '';
  };
  const at = text('parked-at') || new Date(Number(timestamp)).toISOString();
  const read = readMessage(value);
  const message = read.ok ? read.value : unreadableMessage(text('place'), key?.toString('utf8') ?? '', value, at);
  return { message, topic, group: text('group'), reason: text('reason'), at };
}

/** The last ones, newest first. Rejects with `bus_unavailable`. */
export async function readDeadLetters(
  connection: KafkaConnection,
  { name }: Topic,
  topic: string,
  limit: number,
): Promise<readonly DeadLetter[]> {
  const offsets = await withAdmin(connection, patienceMs, async (admin) => {
    const known = await admin.listTopics();
    return known.includes(name) ? admin.fetchTopicOffsets(name) : [];
  });
  /** Per partition where to begin and with which offset to end. */
  const wanted = offsets
    .map(({ partition, low, high }) => ({
      partition,
      from: Math.max(Number(low), Number(high) - limit),
      last: Number(high) - 1,
    }))
    .filter(({ from, last }) => from <= last);
  if (wanted.length === 0) return [];

  const client = openClient(connection);
  const found: { readonly offset: number; readonly letter: DeadLetter }[] = [];
  const open = new Set(wanted.map(({ partition }) => partition));
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const consumer = client.kafka.consumer({
    groupId: `${connection.installation}.parked.${randomUUID()}`,
    maxWaitTimeInMs: 100,
    allowAutoTopicCreation: false,
  });
  consumer.on(consumer.events.CRASH, ({ payload: { error } }) => reject(error));
  consumer.on(consumer.events.GROUP_JOIN, () => {
    for (const { partition, from } of wanted) consumer.seek({ topic: name, partition, offset: String(from) });
  });
  const read = async (): Promise<void> => {
    await consumer.connect();
    await consumer.subscribe({ topics: [name], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch: { partition, messages } }) => {
        const bounds = wanted.find((range) => range.partition === partition);
        if (bounds === undefined) return;
        for (const message of messages) {
          const offset = Number(message.offset);
          if (offset < bounds.from || offset > bounds.last) continue;
          found.push({ offset, letter: toDeadLetter(topic, message) });
          if (offset === bounds.last) open.delete(partition);
        }
        if (open.size === 0) resolve();
      },
    });
    await done;
  };
  try {
    await withTimeout(read(), patienceMs, () => busUnavailable(`${name} could not be read in time; try again.`));
  } catch (error) {
    const [word] = protocolErrorsOf(error);
    throw busUnavailable(`${name} could not be read${word === undefined ? '' : `: ${word}`}; try again.`, error);
  } finally {
    // A group that has stored nothing is gone with its last member.
    await withTimeoutOr(consumer.disconnect(), 2_000, undefined).catch(() => undefined);
    client.cut();
  }
  return found
    .sort((a, b) => b.letter.at.localeCompare(a.letter.at) || b.offset - a.offset)
    .slice(0, limit)
    .map(({ letter }) => letter);
}
