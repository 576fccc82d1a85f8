/** Names, sizes and lives of topics. They are made before their first use: a broker that makes them itself makes them wrong. */
import type { Admin, ITopicConfig } from 'kafkajs';
import { sleep } from '#concurrency/sleep';
import { busUnavailable, protocolErrorsOf, withAdmin, type KafkaConnection } from './kafka-client.js';

export interface Topic {
  readonly name: string;
  readonly partitions: number;
  readonly retentionMs: number;
}

export interface Topics {
  messages(topic: string): Topic;
  /** Messages that step aside to be tried again, of every group that reads the topic. */
  retries(topic: string): Topic;
  /** Messages given up on. */
  deadLetters(topic: string): Topic;
  /** What one service is asked: all its replicas answer all of its requests. */
  requests(service: string): Topic;
  readonly replies: Topic;
  /** Resolves once each has a leader for every partition. Rejects with `bus_unavailable`. */
  ensure(...topics: readonly Topic[]): Promise<void>;
  /** The names of those that were asked for so far. */
  ensured(): readonly string[];
  /** It turned out to be gone: the next `ensure` looks again. */
  forget(topic: Topic): void;
}

const dayMs = 24 * 60 * 60 * 1_000;
const hourMs = 60 * 60 * 1_000;
const segmentMs = 10 * 60 * 1_000;
/** The broker's own limit is 1 MB; the answer to a question for a long history is more. */
export const maxMessageBytes = 8 * 1_024 * 1_024;
const copies = 3;
const patienceMs = 15_000;
const servedEveryMs = 50;
const notYet = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'LISTENER_NOT_FOUND',
]);
const unknownTopic = 'UNKNOWN_TOPIC_OR_PARTITION';
/** The topic is there, though a partition of it cannot be used now. */
const leaderless = 'LEADER_NOT_AVAILABLE';
const nameShape = /^[A-Za-z0-9_-]{1,80}$/;

function checked(word: string, what: string): string {
  if (!nameShape.test(word)) throw new Error(`${what} must be 1 to 80 of A-Z a-z 0-9 _ -, not ${JSON.stringify(word)}`);
  return word;
}

function configOf({ name, partitions, retentionMs }: Topic, brokers: number): ITopicConfig {
  const replicationFactor = Math.max(1, Math.min(copies, brokers));
  const entries = {
    'cleanup.policy': 'delete',
    'retention.ms': String(retentionMs),
    'max.message.bytes': String(maxMessageBytes),
    // With three copies one broker may be away and a write is still on two disks.
    'min.insync.replicas': replicationFactor >= copies ? '2' : '1',
    // A broker deletes whole segments: short lives need short segments.
    ...(retentionMs <= hourMs ? { 'segment.ms': String(segmentMs) } : {}),
  };
  return {
    topic: name,
    numPartitions: partitions,
    replicationFactor,
    configEntries: Object.entries(entries).map(([entry, value]) => ({ name: entry, value })),
  };
}

export function createTopics(connection: KafkaConnection): Topics {
  const { logger } = connection;
  const prefix = checked(connection.installation, 'an installation');
  const known = new Map<string, Promise<void>>();
  const made = new Set<string>();
  const of = (name: string, partitions: number, retentionMs: number): Topic => ({
    name: `${prefix}.${name}`,
    partitions,
    retentionMs,
  });

  /** Asked for by its name: a list of all topics is refused where one of them, also another application's, has no leader. */
  const isThere = async (admin: Admin, { name }: Topic): Promise<boolean> => {
    try {
      await admin.fetchTopicMetadata({ topics: [name] });
      return true;
    } catch (error) {
      const words = protocolErrorsOf(error);
      if (words.includes(leaderless)) return true;
      if (words.includes(unknownTopic)) return false;
      throw error;
    }
  };

  /** Those that had to be made. While another process makes the same one, both report it, or neither. */
  const makeMissing = async (admin: Admin, topics: readonly Topic[]): Promise<readonly Topic[]> => {
    const there = await Promise.all(topics.map((topic) => isThere(admin, topic)));
    const lacking = topics.filter((_, index) => there[index] === false);
    if (lacking.length === 0) return [];
    const { brokers } = await admin.describeCluster();
    const isMade = await admin.createTopics({
      topics: lacking.map((topic) => configOf(topic, brokers.length)),
      waitForLeaders: false,
      timeout: patienceMs,
    });
    return isMade ? lacking : [];
  };

  /**
   * A topic that was just made has leaders that do not serve it yet. Written to in this moment, a batch is sent again as a
   * whole for the sake of one partition, and the others hold it twice.
   */
  const isServed = async (admin: Admin, { name }: Topic): Promise<boolean> => {
    try {
      return (await admin.fetchTopicOffsets(name)).length > 0;
    } catch (error) {
      // Where its cluster knows of no partition yet, kafkajs stumbles over its own empty list.
      if (error instanceof TypeError || protocolErrorsOf(error).some((word) => notYet.has(word))) return false;
      throw error;
    }
  };

  const untilServed = async (admin: Admin, topic: Topic): Promise<void> => {
    for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(servedEveryMs)) {
      if (await isServed(admin, topic)) return;
    }
  };

  /** Asked for in one breath, as by a process that starts, topics are one errand. */
  const make = async (topics: readonly Topic[]): Promise<void> => {
    try {
      const missing = await withAdmin(connection, patienceMs, async (admin) => {
        const found = await makeMissing(admin, topics);
        await Promise.all(topics.map((topic) => untilServed(admin, topic)));
        return found;
      });
      for (const { name, partitions } of missing) {
        if (made.has(name)) {
          logger.warn({ topic: name }, 'a topic had been deleted; it was made again, what it held is lost');
        } else {
          logger.info({ topic: name, partitions }, 'a topic was made');
        }
      }
      for (const { name } of topics) made.add(name);
    } catch (error) {
      const names = topics.map(({ name }) => name);
      for (const name of names) known.delete(name);
      const [word] = protocolErrorsOf(error);
      const why = word === undefined ? '' : `: ${word}`;
      throw busUnavailable(`The topics ${names.join(', ')} could not be made${why}.`, error);
    }
  };

  let asked: Topic[] = [];
  let asking: Promise<void> | null = null;
  const makeSoon = (topic: Topic): Promise<void> => {
    asked.push(topic);
    asking ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      const topics = asked;
      asked = [];
      asking = null;
      return make(topics);
    });
    return asking;
  };

  return {
    messages: (topic) => of(checked(topic, 'a topic'), 12, 7 * dayMs),
    retries: (topic) => of(`${checked(topic, 'a topic')}.retry`, 4, 7 * dayMs),
    deadLetters: (topic) => of(`${checked(topic, 'a topic')}.dlq`, 1, 30 * dayMs),
    requests: (service) => of(`requests.${checked(service, 'the first word of a request')}`, 6, hourMs),
    replies: of('replies.all', 3, hourMs),

    async ensure(...topics) {
      await Promise.all(
        topics.map((topic) => {
          const making = known.get(topic.name) ?? makeSoon(topic);
          known.set(topic.name, making);
          return making;
        }),
      );
    },

    ensured: () => [...made],

    forget(topic) {
      known.delete(topic.name);
    },
  };
}
