/** Appends on their way to the writer: what comes while a group is being written is the next group. */
import { sleep } from '#concurrency/sleep';
import { turns } from '#concurrency/turns';
import { createWorkerThread } from '#concurrency/worker-thread';
import { builtScript } from '#runtime/built-script';
import type { NewEvent } from './event-store.js';
import type { WriteResult, WrittenAppend } from './sqlite-writer.js';
import type { WriterReply, WriterRequest, WriterThreadData } from './sqlite-writer-thread.js';

export interface GroupWriter {
  /** On disk when it resolves; it rejects where nothing of the group is. One group at a time. */
  write(appends: readonly WrittenAppend[]): Promise<readonly WriteResult[]>;
  /** Drops some of a stream's events below the revision; whether there are more. */
  truncateSome(stream: string, before: number): Promise<boolean>;
  /** In no file any more when it resolves. */
  erase(stream: string, upTo: number): Promise<void>;
  close(): Promise<void>;
}

const threadPlaces = ['./sqlite-writer-thread.js', '../../dist/libs/event-store/sqlite-writer-thread.js'];

export function inThread(workerData: WriterThreadData): GroupWriter {
  const thread = createWorkerThread<WriterRequest, WriterReply>({
    script: () => builtScript(import.meta.url, threadPlaces),
    workerData,
  });
  let isUsed = false;
  return {
    async write(appends) {
      isUsed = true;
      const reply = await thread.ask({ kind: 'write', appends });
      if (reply.kind === 'written') return reply.results;
      throw new Error(reply.kind === 'failed' ? reply.message : 'the writer is closed');
    },
    async truncateSome(stream, before) {
      isUsed = true;
      const reply = await thread.ask({ kind: 'truncate', stream, before });
      if (reply.kind === 'truncated') return reply.hasMore;
      throw new Error(reply.kind === 'failed' ? reply.message : 'the writer is closed');
    },
    async erase(stream, upTo) {
      isUsed = true;
      const reply = await thread.ask({ kind: 'erase', stream, upTo });
      if (reply.kind === 'failed') throw new Error(reply.message);
    },
    async close() {
      if (isUsed) await thread.ask({ kind: 'close' });
      await thread.stop();
    },
  };
}

export interface WaitingAppend {
  readonly append: WrittenAppend;
  /** The same events as values, for who follows. */
  readonly events: readonly NewEvent[];
}

interface Pending extends WaitingAppend {
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: unknown) => void;
}

/** At most this many appends in one transaction, so that the first does not wait for a long tail. */
const groupLimit = 200;
/**
 * Where appends meet, a group gathers until so long after the last one: to wake the writer, and its fsync, cost as much for
 * one as for several. Who appends alone, one after the other, waits once at most.
 */
const gatherMs = 8;

export interface AppendQueue {
  /** Resolves once the transaction that holds the append is committed; rejects where nothing of it is kept. */
  submit(waiting: WaitingAppend): Promise<WriteResult>;
  /** Resolves once nothing waits any more. */
  drained(): Promise<void>;
}

/** `committed` is called with each group and its results before the promises resolve. */
export function createAppendQueue(
  writer: GroupWriter,
  committed: (group: readonly WaitingAppend[], results: readonly WriteResult[]) => void,
): AppendQueue {
  let pending: Pending[] = [];
  let running: Promise<void> | null = null;
  /** One came while another was on its way: more may come. A wait that brings none is not repeated. */
  let haveMet = false;
  let lastWrittenMs = -Infinity;

  const gather = async (): Promise<void> => {
    const waitMs = lastWrittenMs + gatherMs - performance.now();
    if (!haveMet || waitMs <= 0 || pending.length >= groupLimit) return;
    haveMet = false;
    await sleep(waitMs);
  };

  const writeGroup = async (group: readonly Pending[]): Promise<void> => {
    let results: readonly WriteResult[];
    try {
      results = await writer.write(group.map(({ append }) => append));
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    committed(group, results);
    // Who appended goes on, which is much at once where a group is large.
    for (const [index, result] of results.entries()) void turns.next().then(() => group[index]?.resolve(result));
  };

  const writeAll = async (): Promise<void> => {
    // What comes within this turn of the event loop belongs to the first group.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (pending.length > 0) {
      await gather();
      const group = pending.slice(0, groupLimit);
      pending = pending.slice(groupLimit);
      await writeGroup(group);
      lastWrittenMs = performance.now();
    }
    running = null;
  };

  return {
    submit(waiting) {
      return new Promise((resolve, reject) => {
        pending.push({ ...waiting, resolve, reject });
        if (running !== null && !waiting.append.isBehind) haveMet = true;
        running ??= writeAll();
      });
    },
    async drained() {
      while (running !== null) await running;
    },
  };
}
