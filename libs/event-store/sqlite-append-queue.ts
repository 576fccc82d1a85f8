/** Appends on their way to the writer: what comes while a group is being written is the next group. */
import { Worker } from 'node:worker_threads';
import { sleep } from '#concurrency/sleep';
import { builtScript } from '#runtime/built-script';
import type { NewEvent } from './event-store.js';
import type { WriteResult, WrittenAppend } from './sqlite-writer.js';
import type { WriterReply, WriterRequest } from './sqlite-writer-thread.js';

export interface GroupWriter {
  /** On disk when it resolves; it rejects where nothing of the group is. One group at a time. */
  write(appends: readonly WrittenAppend[]): Promise<readonly WriteResult[]>;
  close(): Promise<void>;
}

const threadPlaces = ['./sqlite-writer-thread.js', '../../dist/libs/event-store/sqlite-writer-thread.js'];

/** The thread is started by the first write, and again by the next one after it died. */
export function inThread(file: string): GroupWriter {
  let thread: Worker | null = null;
  let settle: ((reply: WriterReply) => void) | null = null;

  const died = (message: string): void => {
    thread = null;
    settle?.({ kind: 'failed', message });
  };

  const ask = (request: WriterRequest): Promise<WriterReply> =>
    new Promise((resolve) => {
      settle = (reply) => {
        settle = null;
        thread?.unref();
        resolve(reply);
      };
      if (thread === null) {
        const started = new Worker(builtScript(import.meta.url, threadPlaces), {
          workerData: file,
          env: {},
          argv: [],
          execArgv: [],
        });
        started.on('message', (reply: WriterReply) => settle?.(reply));
        started.on('error', (error) => thread === started && died(String(error)));
        started.on('exit', () => thread === started && died('the writer ended'));
        thread = started;
      }
      thread.ref();
      thread.postMessage(request);
    });

  return {
    async write(appends) {
      const reply = await ask({ kind: 'write', appends });
      if (reply.kind === 'written') return reply.results;
      throw new Error(reply.kind === 'failed' ? reply.message : 'the writer is closed');
    },
    async close() {
      if (thread === null) return;
      const ending = thread;
      await ask({ kind: 'close' });
      thread = null;
      await ending.terminate();
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
const gatherMs = 2;

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
    for (const [index, result] of results.entries()) group[index]?.resolve(result);
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
