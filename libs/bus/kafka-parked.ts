/** The parking place of a topic: what was given up on, by whom, why. Read for operators, so without a group of its own. */
import { randomUUID } from 'node:crypto';
import type { KafkaMessage } from 'kafkajs';
import type { ParkedMessage } from './bus.js';
import { withDeadline } from './deadline.js';
import { busUnavailable, openClient, protocolErrorsOf, withAdmin, type KafkaConnection } from './kafka-client.js';
import { readMessage, unreadableMessage } from './kafka-envelope.js';
import type { Topic } from './kafka-topics.js';

const patienceMs = 10_000;

interface ParkedFacts {
  readonly group: string;
  readonly reason: string;
  readonly parkedAt: string;
  /** `topic/partition/offset` where it came from. */
  readonly place: string;
}

export function parkedHeaders({ group, reason, parkedAt, place }: ParkedFacts): Record<string, string> {
  return { group, reason, 'parked-at': parkedAt, place };
}

function toParked(topic: string, { key, value, headers, timestamp }: KafkaMessage): ParkedMessage {
  const text = (name: string): string => {
    const content = headers?.[name];
    return Buffer.isBuffer(content) ? content.toString('utf8') : '';
  };
  const parkedAt = text('parked-at') || new Date(Number(timestamp)).toISOString();
  const read = readMessage(value);
  const message = read.ok ? read.value : unreadableMessage(text('place'), key?.toString('utf8') ?? '', value, parkedAt);
  return { message, topic, group: text('group'), reason: text('reason'), parkedAt };
}

/** The last ones, newest first. Rejects with `bus_unavailable`. */
export async function readParked(
  connection: KafkaConnection,
  { name }: Topic,
  topic: string,
  limit: number,
): Promise<readonly ParkedMessage[]> {
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
  const found: { readonly offset: number; readonly parked: ParkedMessage }[] = [];
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
          found.push({ offset, parked: toParked(topic, message) });
          if (offset === bounds.last) open.delete(partition);
        }
        if (open.size === 0) resolve();
      },
    });
    await done;
  };
  try {
    await withDeadline(read(), patienceMs, () => busUnavailable(`${name} could not be read in time; try again.`));
  } catch (error) {
    const [word] = protocolErrorsOf(error);
    throw busUnavailable(`${name} could not be read${word === undefined ? '' : `: ${word}`}; try again.`, error);
  } finally {
    // A group that has stored nothing is gone with its last member.
    await withDeadline(consumer.disconnect(), 2_000, () => new Error('late')).catch(() => undefined);
    client.cut();
  }
  return found
    .sort((a, b) => b.parked.parkedAt.localeCompare(a.parked.parkedAt) || b.offset - a.offset)
    .slice(0, limit)
    .map(({ parked }) => parked);
}
