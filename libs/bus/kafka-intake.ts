/**
 * Takes records from topics and hands them to a worker: in order per key, side by side across keys, so that a slow one
 * delays its own key alone. It commits everything up to the first record that is not done.
 */
import type { KafkaMessage } from 'kafkajs';
import { createKeyedQueue } from '#concurrency/keyed-queue';
import { createSemaphore } from '#concurrency/semaphore';
import { withTimeoutOr } from '#concurrency/timeout';
import type { Demand } from './handle-message.js';
import type { KafkaConnection } from './kafka-client.js';
import { startMember, type Member, type MemberOptions, type TopicPartition } from './kafka-member.js';
import { createProgress, type Progress } from './kafka-progress.js';
import type { Topics } from './kafka-topics.js';

export interface IncomingRecord extends TopicPartition {
  readonly offset: number;
  /** Distinguishes it from the record at this offset of another log, after a topic was deleted and made again. */
  readonly mark: string;
  /** Empty where it has none. */
  readonly key: string;
  readonly value: Buffer | null;
  readonly headers: ReadonlyMap<string, string>;
}

/** `skip`: nothing to do here. `notBeforeMs`: it waits until then, without delaying other records. */
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
  work(record: IncomingRecord, demand: Demand): Promise<boolean>;
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

/** The shares that this process has now. */
class Shares {
  readonly #byPartition = new Map<string, Share>();

  get all(): readonly Share[] {
    return [...this.#byPartition.values()];
  }

  find({ topic, partition }: TopicPartition): Share | undefined {
    return this.#byPartition.get(shareKey(topic, partition));
  }

  open({ topic, partition }: TopicPartition): Share {
    const share = { topic, partition, progress: createProgress(), waiting: 0, isPaused: false, isOurs: true };
    this.#byPartition.set(shareKey(topic, partition), share);
    return share;
  }

  close(share: Share): void {
    share.isOurs = false;
    this.#byPartition.delete(shareKey(share.topic, share.partition));
  }
}

/** Pauses a partition of which too much waits, and resumes it when that is done. */
function limitReadAhead(member: Member, share: Share): void {
  const span = share.progress.span();
  if (!share.isPaused && (share.waiting >= waitingMost || span >= aheadMost)) {
    share.isPaused = true;
    member.pause(share);
  } else if (share.isPaused && share.waiting <= waitingMost / 4 && span <= aheadMost / 2) {
    share.isPaused = false;
    member.resume(share);
  }
}

/** Commits what is done, one commit at a time: an older one that is late would set the group back. */
function createCommitter(shares: Shares, member: () => Member, onError: (error: unknown) => void) {
  let committing: Promise<void> | null = null;
  const commitNow = async (): Promise<void> => {
    const offsets = shares.all.flatMap((share) => {
      const offset = share.progress.uncommitted();
      return offset === null ? [] : [{ share, topic: share.topic, partition: share.partition, offset }];
    });
    if (offsets.length === 0) return;
    try {
      await member().commit(offsets);
      for (const { share, offset } of offsets) share.progress.committed(offset);
    } catch (error) {
      onError(error);
    }
  };
  const commit = (): Promise<void> => {
    committing ??= commitNow().finally(() => {
      committing = null;
    });
    return committing;
  };
  const timer = setInterval(() => void commit(), commitEveryMs);
  return {
    commit,
    async stop(): Promise<void> {
      clearInterval(timer);
      const last = async (): Promise<void> => {
        await committing;
        await commit();
      };
      await withTimeoutOr(last(), lastCommitMs, undefined);
    },
  };
}

export function startIntake(connection: KafkaConnection, topics: Topics, options: IntakeOptions): Intake {
  const { logger } = connection;
  const { groupId, concurrency, committedWhen } = options;
  const shares = new Shares();
  const queue = createKeyedQueue();
  const slots = createSemaphore(concurrency);
  /** Records that wait until their time, each with what ends the wait. */
  const delayed = new Set<() => void>();
  const stopping = new AbortController();

  const committer = createCommitter(
    shares,
    () => member,
    // It is tried again by the clock; what comes twice until then is known by its id.
    (error) => logger.debug({ group: groupId, error: String(error) }, 'offsets could not be committed'),
  );

  const enqueue = (share: Share, record: IncomingRecord, key: string, onDone: () => void): void => {
    const isWanted = (): boolean => share.isOurs && (committedWhen === 'taken' || !stopping.signal.aborted);
    const demand: Demand = { isWanted, stopping: stopping.signal };
    const work = async (): Promise<void> => {
      share.waiting -= 1;
      if (isWanted() && (await options.work(record, demand))) onDone();
      if (share.isOurs) limitReadAhead(member, share);
    };
    void queue.run(key, () => slots.run(work));
  };

  const admit = (share: Share, record: IncomingRecord): void => {
    const taken = share.progress.take(record);
    if (taken === null) return;
    const onDone = (): void => {
      taken.isDone = true;
    };
    if (committedWhen === 'taken') onDone();
    const plan = options.plan(record);
    if (plan.skip === true) return onDone();
    share.waiting += 1;
    const waitMs = (plan.notBeforeMs ?? 0) - Date.now();
    if (waitMs <= 0) return enqueue(share, record, plan.key, onDone);
    const begin = (): void => {
      clearTimeout(timer);
      delayed.delete(begin);
      enqueue(share, record, plan.key, onDone);
    };
    const timer = setTimeout(begin, waitMs);
    delayed.add(begin);
  };

  const member = startMember(connection, topics, {
    groupId,
    topics: options.topics,
    sessionTimeoutMs: options.sessionTimeoutMs,
    from: 'beginning',
    onAssigned(partitions) {
      const kept = new Set(partitions.map(({ topic, partition }) => shareKey(topic, partition)));
      for (const share of shares.all) {
        if (!kept.has(shareKey(share.topic, share.partition))) shares.close(share);
        else share.progress.expectRepeats();
      }
      for (const place of partitions) {
        const share = shares.find(place);
        if (share === undefined) {
          shares.open(place);
          // A partition that was paused when it was lost is still paused for kafkajs.
          member.resume(place);
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
      if (stopping.signal.aborted || first === undefined) return;
      let share = shares.find(first) ?? shares.open(first);
      if (!share.progress.continuesWith(first)) {
        logger.warn({ topic, partition, offset: first.offset }, 'a log begins anew; reading it from there');
        shares.close(share);
        share = shares.open(first);
      }
      for (const record of records) admit(share, record);
      limitReadAhead(member, share);
      if (committedWhen === 'taken') void committer.commit();
    },
    onRebalancing: () => void committer.commit(),
  });

  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    stopping.abort();
    member.pauseAll();
    for (const begin of delayed) begin();
    await queue.idle();
    await committer.stop();
    await member.stop();
  };
  return {
    member,
    stop: () => (stopped ??= stop()),
  };
}
