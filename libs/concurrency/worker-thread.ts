/** A worker thread that answers one request at a time: started by the first, and again by the next one after it ended. */
import { Worker, type ResourceLimits, type Transferable } from 'node:worker_threads';
import { createMutex } from './mutex.js';
import { withTimeout } from './timeout.js';

export interface WorkerThreadOptions {
  /** Its program, which calls `answerRequests`. Called at each start; what it throws, the request rejects with. */
  readonly script: () => URL;
  readonly workerData?: unknown;
  readonly resourceLimits?: ResourceLimits;
  /** How long an answer may take, once the program is loaded; a thread that takes longer is ended. By default for ever. */
  readonly answerMs?: number;
  /** It ends after this long without a request. By default never; it does not keep the process alive. */
  readonly idleMs?: number;
}

export interface WorkerThread<Request, Reply> {
  /** In the order of arrival. Rejects with `ThreadEnded` where the thread ended before it answered this. `moved`: not copied. */
  ask(request: Request, moved?: readonly Transferable[]): Promise<Reply>;
  /** Ends the thread, whatever it is doing. */
  stop(): Promise<void>;
}

/** The message continues a sentence about what the thread was asked for: "it …". */
export class ThreadEnded extends Error {}

/** Loading a program takes a fraction of this, on a machine that is busy elsewhere too. */
const startMs = 10_000;

interface StartedThread {
  readonly thread: Worker;
  /** Resolves once its program is loaded; null from then on. */
  ready: Promise<unknown> | null;
  nextMessage(): Promise<unknown>;
}

function startThread({ script, workerData, resourceLimits }: WorkerThreadOptions): StartedThread {
  const thread = new Worker(script(), {
    workerData,
    // Nothing of this process that the thread does not need.
    env: {},
    argv: [],
    execArgv: [],
    ...(resourceLimits === undefined ? {} : { resourceLimits }),
  });
  let ended: ThreadEnded | null = null;
  let awaited: PromiseWithResolvers<unknown> | null = null;
  const end = (message: string): void => {
    ended ??= new ThreadEnded(message);
    awaited?.reject(ended);
  };
  thread.on('message', (message) => awaited?.resolve(message));
  thread.on('error', (error) => end(`ended its thread (${String(error)})`));
  thread.on('exit', () => end('ended its thread'));
  const nextMessage = async (): Promise<unknown> => {
    if (ended !== null) throw ended;
    awaited = Promise.withResolvers();
    return awaited.promise;
  };
  const ready = nextMessage();
  return { thread, ready, nextMessage };
}

export function createWorkerThread<Request, Reply>(options: WorkerThreadOptions): WorkerThread<Request, Reply> {
  const { answerMs, idleMs } = options;
  const turn = createMutex();
  let started: StartedThread | null = null;
  let idleTimer: NodeJS.Timeout | undefined;

  const stop = async (): Promise<void> => {
    clearTimeout(idleTimer);
    const ending = started;
    started = null;
    await ending?.thread.terminate();
  };

  const askNow = async (request: Request, moved: readonly Transferable[]): Promise<Reply> => {
    clearTimeout(idleTimer);
    const current = (started ??= startThread(options));
    const { thread, nextMessage } = current;
    thread.ref();
    try {
      if (current.ready !== null) {
        await withTimeout(current.ready, startMs, () => new ThreadEnded('could not start its thread'));
        current.ready = null;
      }
      const reply = nextMessage() as Promise<Reply>;
      thread.postMessage(request, moved);
      if (answerMs === undefined) return await reply;
      return await withTimeout(reply, answerMs, () => new ThreadEnded(`takes longer than ${answerMs} ms`));
    } catch (error) {
      if (error instanceof ThreadEnded) await stop();
      throw error;
    } finally {
      thread.unref();
      if (idleMs !== undefined && started !== null) idleTimer = setTimeout(() => void stop(), idleMs).unref();
    }
  };

  return { ask: (request, moved = []) => turn.run(() => askNow(request, moved)), stop };
}
