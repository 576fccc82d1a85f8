/**
 * A member of a consumer group, kept alive: whatever ends the kafkajs consumer below it (a crash, a silence, a topic
 * that was deleted), another one takes its place.
 */
import type { Consumer, KafkaMessage } from 'kafkajs';
import { pause, withDeadline } from './deadline.js';
import { openClient, type KafkaConnection } from './kafka-client.js';
import type { Topic, Topics } from './kafka-topics.js';

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

export interface TopicOffset extends TopicPartition {
  readonly offset: number;
}

export interface MemberOptions {
  readonly groupId: string;
  readonly topics: readonly Topic[];
  /** Where a partition begins that the group has committed nothing for, or whose committed offset is gone. */
  readonly from: 'beginning' | 'end';
  /** A member that says nothing for so long is dead to the others. */
  readonly sessionTimeoutMs: number;
  /** Before each joining, after the topics were made sure of. */
  beforeJoin?(): Promise<void>;
  /** In this very moment the member was given these partitions. What it answers is where it reads on instead of the committed offsets. */
  onAssigned(partitions: readonly TopicPartition[]): readonly TopicOffset[];
  /** Must return at once: kafkajs sends its heartbeats and fetches the next batch, of any partition, only afterwards. */
  onBatch(topic: string, partition: number, messages: readonly KafkaMessage[]): void;
  /** The group is about to share its partitions out anew. */
  onRebalancing?(): void;
}

export interface Member {
  /** False where it is not done in time, or stopped before; where not stopped it is tried on in the background. */
  joined(patienceMs: number): Promise<boolean>;
  /** Rejects where it could not be stored. */
  commit(offsets: readonly TopicOffset[]): Promise<void>;
  pause(partition: TopicPartition): void;
  resume(partition: TopicPartition): void;
  /** Reads no more, but stays a member. */
  pauseAll(): void;
  isWell(): boolean;
  /** Leaves the group. */
  stop(): Promise<void>;
}

/** What an idle fetch waits at the broker. New messages end the wait; a partition that is resumed is first asked for after it. */
const fetchWaitMs = 600;
/** Heartbeats go out between two fetches; by them a member learns that its group is to be shared out anew, which all others wait for. */
const heartbeatMs = 500;
const rebalanceTimeoutMs = 60_000;
/** Longer than the joining of a group takes in which somebody has just died. */
const silenceMs = 30_000;
const wellMs = 15_000;
const checkEveryMs = 1_000;
const againAfterMs = 500;
const disconnectPatienceMs = 3_000;
const partitionBytes = 256 * 1_024;
const fetchBytes = 4 * 1_024 * 1_024;

export function startMember(connection: KafkaConnection, topics: Topics, options: MemberOptions): Member {
  const { groupId } = options;
  const { logger } = connection;
  const stopping = new AbortController();
  let current: Consumer | null = null;
  let isJoined = false;
  let hasJoinedSinceLoss = true;
  let isPausedForGood = false;
  let assigned: readonly TopicPartition[] = [];
  let lastSignMs = Date.now();
  let waitingForJoin: ((isIn: boolean) => void)[] = [];

  /** Of a consumer that is just being replaced: what it is told here, its successor will be told anew. */
  const tell = (work: (consumer: Consumer) => void): void => {
    if (current === null) return;
    try {
      work(current);
    } catch (error) {
      logger.debug({ group: groupId, error: String(error) }, 'a consumer was told something while it was replaced');
    }
  };
  const pausePartitions = (partitions: readonly TopicPartition[]): void =>
    tell((consumer) => consumer.pause(partitions.map(({ topic, partition }) => ({ topic, partitions: [partition] }))));

  /** From one joining to the end of the consumer; resolves to the reason of its end. */
  const live = async (): Promise<string> => {
    await topics.ensure(...options.topics);
    await options.beforeJoin?.();
    const client = openClient(connection);
    const consumer = client.kafka.consumer({
      groupId,
      sessionTimeout: options.sessionTimeoutMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      heartbeatInterval: heartbeatMs,
      maxWaitTimeInMs: fetchWaitMs,
      minBytes: 1,
      maxBytes: fetchBytes,
      maxBytesPerPartition: partitionBytes,
      metadataMaxAge: 30_000,
      allowAutoTopicCreation: false,
    });
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    const isCurrent = (): boolean => current === consumer;

    consumer.on(consumer.events.HEARTBEAT, () => {
      if (isCurrent()) lastSignMs = Date.now();
    });
    consumer.on(consumer.events.REBALANCING, () => {
      if (isCurrent()) options.onRebalancing?.();
    });
    consumer.on(consumer.events.CRASH, ({ payload: { error } }) => end(String(error)));
    consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberAssignment } }) => {
      if (!isCurrent()) return;
      lastSignMs = Date.now();
      isJoined = true;
      hasJoinedSinceLoss = true;
      assigned = Object.entries(memberAssignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => ({ topic, partition })),
      );
      for (const { topic, partition, offset } of options.onAssigned(assigned)) {
        consumer.seek({ topic, partition, offset: String(offset) });
      }
      if (isPausedForGood) pausePartitions(assigned);
      for (const tell of waitingForJoin.splice(0)) tell(true);
    });

    current = consumer;
    lastSignMs = Date.now();
    const watch = setInterval(() => {
      if (Date.now() - lastSignMs > silenceMs) end(`nothing was heard of it for ${silenceMs / 1_000} s`);
    }, checkEveryMs);
    const onStop = (): void => end('it was told to stop');
    stopping.signal.addEventListener('abort', onStop, { once: true });
    const begin = async (): Promise<void> => {
      try {
        await consumer.connect();
        await consumer.subscribe({
          topics: options.topics.map(({ name }) => name),
          fromBeginning: options.from === 'beginning',
        });
        await consumer.run({
          autoCommit: false,
          eachBatch: async ({ batch: { topic, partition, messages } }) => {
            // A throw would reach kafkajs, which ends consumers for some kinds of errors and loops on the others.
            if (isCurrent()) options.onBatch(topic, partition, messages);
          },
        });
      } catch (error) {
        end(String(error));
      }
    };
    const begun = begin();
    try {
      if (stopping.signal.aborted) return 'it was told to stop';
      return await ended;
    } finally {
      current = null;
      isJoined = false;
      clearInterval(watch);
      stopping.signal.removeEventListener('abort', onStop);
      const leaving = begun.then(() => consumer.disconnect());
      await withDeadline(leaving, disconnectPatienceMs, () => new Error('late')).catch((error: unknown) => {
        logger.debug({ group: groupId, error: String(error) }, 'a consumer did not leave its group in order');
      });
      client.cut();
    }
  };

  const keepAlive = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      let reason: string;
      try {
        reason = await live();
      } catch (error) {
        reason = String(error);
      }
      if (stopping.signal.aborted) return;
      for (const topic of options.topics) topics.forget(topic);
      // Told once per outage, not once per try.
      if (hasJoinedSinceLoss) logger.warn({ group: groupId, reason }, 'a consumer was lost; joining its group again');
      hasJoinedSinceLoss = false;
      await pause(againAfterMs * (0.5 + Math.random()), stopping.signal);
    }
  };
  const running = keepAlive();

  return {
    joined: (patienceMs) => {
      if (isJoined) return Promise.resolve(true);
      return new Promise((resolve) => {
        const done = (isIn: boolean): void => {
          clearTimeout(timer);
          resolve(isIn);
        };
        const timer = setTimeout(() => {
          waitingForJoin = waitingForJoin.filter((waiting) => waiting !== done);
          done(false);
        }, patienceMs);
        waitingForJoin.push(done);
      });
    },
    async commit(offsets) {
      const consumer = current;
      if (consumer === null || !isJoined) throw new Error('it is not a member of its group now');
      await consumer.commitOffsets(
        offsets.map(({ topic, partition, offset }) => ({ topic, partition, offset: String(offset) })),
      );
    },
    pause: (partition) => pausePartitions([partition]),
    resume: ({ topic, partition }) => {
      if (!isPausedForGood) tell((consumer) => consumer.resume([{ topic, partitions: [partition] }]));
    },
    pauseAll() {
      isPausedForGood = true;
      pausePartitions(assigned);
    },
    isWell: () => isJoined && Date.now() - lastSignMs < wellMs,
    async stop() {
      stopping.abort();
      for (const giveUp of waitingForJoin.splice(0)) giveUp(false);
      await running;
    },
  };
}
