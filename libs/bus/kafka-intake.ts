/**
 * Takes records from topics and hands them to a worker: one after the other per key, side by side across keys, so that a
 * slow one delays its own key alone. What is committed is everything up to the first record that is not done.
 */
import type { KafkaMessage } from 'kafkajs';
import type { Logger } from '#runtime/logger';
import { withDeadline } from './deadline.js';
import type { KafkaConnection } from './kafka-client.js';
import { startMember, type Member, type MemberOptions, type TopicPartition } from './kafka-member.js';
import { createProgress, type Progress } from './kafka-progress.js';
import type { Topics } from './kafka-topics.js';

export interface IncomingRecord extends TopicPartition {
  readonly offset: number;
  /** Tells it from what another log holds at this offset, after a topic was deleted and made again. */
  readonly mark: string;
  /** Empty where it has none. */
  readonly key: string;
  readonly value: Buffer | null;
  readonly headers: ReadonlyMap<string, string>;
}

/** `skip`: nothing to do here. `notBeforeMs`: it waits until then, and holds up nobody. */
export type Plan =
  { readonly skip: true } | { readonly skip?: false; readonly key: string; readonly notBeforeMs?: number };

export interface IntakeOptions extends Pick<MemberOptions, 'groupId' | 'topics' | 'sessionTimeoutMs'> {
  readonly concurrency: number;
  /**
   * `handled`: a record that is not done when this process ends is handed over again, here or elsewhere. `taken`: it is
   * not, and what was taken is done before the intake stops.
   */
  readonly committedWhen: 'handled' | 'taken';
  plan(record: IncomingRecord): Plan;
  /** Never rejects. False where it could not be done because the intake stops or lost the partition. */
  work(record: IncomingRecord, isWanted: () => boolean): Promise<boolean>;
}

export interface Intake {
  readonly member: Member;
  stop(): Promise<void>;
}

/** One partition, for as long as it is ours. */
interface Share extends TopicPartition {
  progress: Progress;
  /** Taken and not begun. */
  waiting: number;
  isPaused: boolean;
  isOurs: boolean;
}

/** A partition pauses with so many records waiting, or with so many handled ahead of one that is not done. */
const waitingMost = 256;
const aheadMost = 5_000;
const commitEveryMs = 1_000;
const lastCommitMs = 3_000;

const shareKey = (topic: string, partition: number): string => `${topic}|${partition}`;

function textOf(value: unknown): string {
  const single: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof single === 'string') return single;
  return Buffer.isBuffer(single) ? single.toString('utf8') : '';
}

function toRecord(
  topic: string,
  partition: number,
  { offset, timestamp, key, value, headers }: KafkaMessage,
): IncomingRecord {
  return {
    topic,
    partition,
    offset: Number(offset),
    mark: `${timestamp} ${value?.length ?? 0}`,
    key: key === null ? '' : textOf(key),
    value,
    headers: new Map(Object.entries(headers ?? {}).map(([name, content]) => [name, textOf(content)])),
  };
}

export function startIntake(connection: KafkaConnection, topics: Topics, options: IntakeOptions): Intake {
  const logger: Logger = connection.logger;
  const { groupId, concurrency, committedWhen } = options;
  const shares = new Map<string, Share>();
  const tails = new Map<string, Promise<void>>();
  const places: (() => void)[] = [];
  const delayed = new Set<() => void>();
  const idle: (() => void)[] = [];
  let running = 0;
  let inHand = 0;
  let isStopping = false;
  let committing: Promise<void> | null = null;

  const takePlace = async (): Promise<void> => {
    if (running < concurrency) {
      running += 1;
      return;
    }
    await new Promise<void>((resolve) => places.push(resolve));
  };
  const leavePlace = (): void => {
    const next = places.shift();
    if (next === undefined) running -= 1;
    else next();
  };

  const steer = (share: Share): void => {
    const span = share.progress.span();
    if (!share.isPaused && (share.waiting >= waitingMost || span >= aheadMost)) {
      share.isPaused = true;
      member.pause(share);
    } else if (share.isPaused && share.waiting <= waitingMost / 4 && span <= aheadMost / 2) {
      share.isPaused = false;
      member.resume(share);
    }
  };

  const uncommitted = () =>
    [...shares.values()].flatMap((share) => {
      const offset = share.progress.uncommitted();
      return offset === null ? [] : [{ share, topic: share.topic, partition: share.partition, offset }];
    });

  const commitNow = async (): Promise<void> => {
    const offsets = uncommitted();
    if (offsets.length === 0) return;
    try {
      await member.commit(offsets);
      for (const { share, offset } of offsets) share.progress.committed(offset);
    } catch (error) {
      // It is tried again by the clock; what comes twice until then is known by its id.
      logger.debug({ group: groupId, error: String(error) }, 'how far a group came could not be stored');
    }
  };
  /** One at a time: an older one that is late would set the group back. */
  const commit = (): Promise<void> => {
    committing ??= commitNow().finally(() => {
      committing = null;
    });
    return committing;
  };
  const clock = setInterval(() => void commit(), commitEveryMs);

  const enqueue = (share: Share, record: IncomingRecord, key: string, done: () => void): void => {
    const isWanted = (): boolean => share.isOurs && (committedWhen === 'taken' || !isStopping);
    const before = tails.get(key);
    const run = async (): Promise<void> => {
      await before;
      await takePlace();
      share.waiting -= 1;
      const isDone = isWanted() && (await options.work(record, isWanted));
      leavePlace();
      if (tails.get(key) === tail) tails.delete(key);
      if (isDone) done();
      inHand -= 1;
      if (inHand === 0) for (const resolve of idle.splice(0)) resolve();
      if (share.isOurs) steer(share);
    };
    const tail = run();
    tails.set(key, tail);
  };

  const admit = (share: Share, record: IncomingRecord): void => {
    const taken = share.progress.take(record);
    if (taken === null) return;
    const done = (): void => {
      taken.isDone = true;
    };
    if (committedWhen === 'taken') done();
    const plan = options.plan(record);
    if (plan.skip === true) return done();
    inHand += 1;
    share.waiting += 1;
    const waitMs = (plan.notBeforeMs ?? 0) - Date.now();
    if (waitMs <= 0) return enqueue(share, record, plan.key, done);
    const go = (): void => {
      clearTimeout(timer);
      delayed.delete(go);
      enqueue(share, record, plan.key, done);
    };
    const timer = setTimeout(go, waitMs);
    delayed.add(go);
  };

  const open = (topic: string, partition: number): Share => {
    const share = { topic, partition, progress: createProgress(), waiting: 0, isPaused: false, isOurs: true };
    shares.set(shareKey(topic, partition), share);
    return share;
  };
  const close = (share: Share): void => {
    share.isOurs = false;
    shares.delete(shareKey(share.topic, share.partition));
  };

  const member = startMember(connection, topics, {
    groupId,
    topics: options.topics,
    sessionTimeoutMs: options.sessionTimeoutMs,
    from: 'beginning',
    onAssigned(partitions) {
      const kept = new Set(partitions.map(({ topic, partition }) => shareKey(topic, partition)));
      for (const [key, share] of shares) {
        if (!kept.has(key)) close(share);
        else share.progress.expectRepeats();
      }
      for (const { topic, partition } of partitions) {
        const share = shares.get(shareKey(topic, partition));
        if (share === undefined) {
          open(topic, partition);
          // A partition that was paused when it was lost is still paused for kafkajs.
          member.resume({ topic, partition });
        } else if (share.isPaused) {
          // Where the consumer below was replaced, its successor knows of no pause.
          member.pause(share);
        }
      }
      return [];
    },
    onBatch(topic, partition, messages) {
      const records = messages.map((message) => toRecord(topic, partition, message));
      const [first] = records;
      if (isStopping || first === undefined) return;
      let share = shares.get(shareKey(topic, partition)) ?? open(topic, partition);
      if (!share.progress.continuesWith(first)) {
        logger.warn({ topic, partition, offset: first.offset }, 'a log begins anew; reading it from there');
        close(share);
        share = open(topic, partition);
      }
      for (const record of records) admit(share, record);
      steer(share);
      if (committedWhen === 'taken') void commit();
    },
    onRebalancing: () => void commit(),
  });

  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    isStopping = true;
    member.pauseAll();
    for (const go of delayed) go();
    if (inHand > 0) await new Promise<void>((resolve) => idle.push(resolve));
    clearInterval(clock);
    const last = (async () => {
      await committing;
      await commit();
    })();
    await withDeadline(last, lastCommitMs, () => new Error('late')).catch(() => undefined);
    await member.stop();
  };
  return {
    member,
    stop: () => (stopped ??= stop()),
  };
}
