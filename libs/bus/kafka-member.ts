/**
 * A member of a consumer group, kept alive: whatever ends the kafkajs consumer below it (a crash, a silence, a topic
 * that was deleted), another one takes its place.
 */
import type { Consumer, KafkaMessage } from 'kafkajs';
import { sleep } from '#concurrency/sleep';
import { withTimeout, withTimeoutOr } from '#concurrency/timeout';
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
  /** A member without a heartbeat for so long is dead to the others. */
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
/** Longer than joining a group takes in which a member has just died. */
const silenceMs = 30_000;
const wellMs = 15_000;
const checkEveryMs = 1_000;
const againAfterMs = 500;
const disconnectPatienceMs = 3_000;
const partitionBytes = 256 * 1_024;
const fetchBytes = 4 * 1_024 * 1_024;

/** What a session of kafkajs reports. Only the current session of a member is listened to. */
interface SessionEvents {
  onSign(): void;
  onJoined(partitions: readonly TopicPartition[]): void;
  onRebalancing(): void;
  onBatch(topic: string, partition: number, messages: readonly KafkaMessage[]): void;
}

/** One kafkajs consumer, from its connection to its end. */
interface Session {
  readonly consumer: Consumer;
  /** Resolves with the reason of its end. */
  readonly ended: Promise<string>;
  end(reason: string): void;
  /** Leaves the group, and ends every connection whatever state it is in. */
  leave(): Promise<void>;
}

const stopReason = 'it was asked to stop';

function openSession(connection: KafkaConnection, options: MemberOptions, events: SessionEvents): Session {
  const { groupId, sessionTimeoutMs, from } = options;
  const client = openClient(connection);
  const consumer = client.kafka.consumer({
    groupId,
    sessionTimeout: sessionTimeoutMs,
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
  consumer.on(consumer.events.HEARTBEAT, () => events.onSign());
  consumer.on(consumer.events.REBALANCING, () => events.onRebalancing());
  consumer.on(consumer.events.CRASH, ({ payload: { error } }) => end(String(error)));
  consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberAssignment } }) =>
    events.onJoined(
      Object.entries(memberAssignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => ({ topic, partition })),
      ),
    ),
  );
  const begin = async (): Promise<void> => {
    try {
      await consumer.connect();
      await consumer.subscribe({
        topics: options.topics.map(({ name }) => name),
        fromBeginning: from === 'beginning',
      });
      await consumer.run({
        autoCommit: false,
        // A throw would reach kafkajs, which ends consumers for some kinds of errors and loops on the others.
        eachBatch: async ({ batch: { topic, partition, messages } }) => events.onBatch(topic, partition, messages),
      });
    } catch (error) {
      end(String(error));
    }
  };
  const begun = begin();
  return {
    consumer,
    ended,
    end,
    async leave() {
      const leaving = begun.then(() => consumer.disconnect());
      await withTimeout(leaving, disconnectPatienceMs, () => new Error('late')).catch((error: unknown) => {
        connection.logger.debug(
          { group: groupId, error: String(error) },
          'a consumer did not leave its group in order',
        );
      });
      client.cut();
    },
  };
}

export function startMember(connection: KafkaConnection, topics: Topics, options: MemberOptions): Member {
  const { groupId } = options;
  const { logger } = connection;
  const stopping = new AbortController();
  let current: Session | null = null;
  let isJoined = false;
  let hasJoinedSinceLoss = true;
  let isPausedForGood = false;
  let assigned: readonly TopicPartition[] = [];
  let lastSignMs = Date.now();
  let nextJoin = Promise.withResolvers<boolean>();

  /** Does nothing while a consumer is being replaced: its successor is given pauses and positions anew. */
  const withConsumer = (work: (consumer: Consumer) => void): void => {
    try {
      if (current !== null) work(current.consumer);
    } catch (error) {
      logger.debug({ group: groupId, error: String(error) }, 'a consumer was called while it was replaced');
    }
  };
  const pausePartitions = (partitions: readonly TopicPartition[]): void =>
    withConsumer((consumer) =>
      consumer.pause(partitions.map(({ topic, partition }) => ({ topic, partitions: [partition] }))),
    );

  const onJoined = ({ consumer }: Session, partitions: readonly TopicPartition[]): void => {
    lastSignMs = Date.now();
    isJoined = true;
    hasJoinedSinceLoss = true;
    assigned = partitions;
    for (const { topic, partition, offset } of options.onAssigned(assigned)) {
      consumer.seek({ topic, partition, offset: String(offset) });
    }
    if (isPausedForGood) pausePartitions(assigned);
    nextJoin.resolve(true);
    nextJoin = Promise.withResolvers();
  };

  /** From one joining to the end of the consumer; resolves to the reason of its end. */
  const runSession = async (): Promise<string> => {
    await topics.ensure(...options.topics);
    await options.beforeJoin?.();
    if (stopping.signal.aborted) return stopReason;
    const ifCurrent = (work: () => void): void => {
      if (current === session) work();
    };
    const session: Session = openSession(connection, options, {
      onSign: () =>
        ifCurrent(() => {
          lastSignMs = Date.now();
        }),
      onRebalancing: () => ifCurrent(() => options.onRebalancing?.()),
      onJoined: (partitions) => ifCurrent(() => onJoined(session, partitions)),
      onBatch: (topic, partition, messages) => ifCurrent(() => options.onBatch(topic, partition, messages)),
    });
    current = session;
    lastSignMs = Date.now();
    const silenceCheck = setInterval(() => {
      if (Date.now() - lastSignMs > silenceMs) session.end(`nothing was heard of it for ${silenceMs / 1_000} s`);
    }, checkEveryMs);
    const onStop = (): void => session.end(stopReason);
    stopping.signal.addEventListener('abort', onStop, { once: true });
    try {
      return await session.ended;
    } finally {
      current = null;
      isJoined = false;
      clearInterval(silenceCheck);
      stopping.signal.removeEventListener('abort', onStop);
      await session.leave();
    }
  };

  const keepAlive = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const reason = await runSession().catch(String);
      if (stopping.signal.aborted) return;
      for (const topic of options.topics) topics.forget(topic);
      // Once per outage, not once per try.
      if (hasJoinedSinceLoss) logger.warn({ group: groupId, reason }, 'a consumer was lost; joining its group again');
      hasJoinedSinceLoss = false;
      await sleep(againAfterMs * (0.5 + Math.random()), stopping.signal);
    }
  };
  const running = keepAlive();

  return {
    joined: async (patienceMs) => isJoined || withTimeoutOr(nextJoin.promise, patienceMs, false),
    async commit(offsets) {
      if (current === null || !isJoined) throw new Error('it is not a member of its group now');
      await current.consumer.commitOffsets(
        offsets.map(({ topic, partition, offset }) => ({ topic, partition, offset: String(offset) })),
      );
    },
    pause: (partition) => pausePartitions([partition]),
    resume: ({ topic, partition }) => {
      if (!isPausedForGood) withConsumer((consumer) => consumer.resume([{ topic, partitions: [partition] }]));
    },
    pauseAll() {
      isPausedForGood = true;
      pausePartitions(assigned);
    },
    isWell: () => isJoined && Date.now() - lastSignMs < wellMs,
    async stop() {
      stopping.abort();
      nextJoin.resolve(false);
      await running;
    },
  };
}
