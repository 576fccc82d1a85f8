/**
 * Backfills views in a worker thread. The worker reads the stored events once for all views that are built together and
 * computes the documents; this thread, which has the views' file open, writes them, so that no writer waits for a lock, and
 * does its other work between two writes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type {
  Backfill,
  Backfiller,
  BackfillResult,
  DocumentWrite,
  ForgottenDocuments,
  SeenEvent,
} from './read-store.js';
import type { PlainValue } from './indexed-fields.js';

/** The worker's script, and the events file it reads. */
export interface BackfillSource {
  readonly script: URL;
  readonly eventsFile: string;
  /** Of the installation, by which sealed events are opened. null: none of them is. */
  readonly secretKey: Uint8Array | null;
}

/** What the worker is given. */
export type BackfillWorkerData = Omit<BackfillSource, 'script'>;

/** Id, revision, the document as it is stored or null, and the values of its indexed fields. */
export type BuiltRow = readonly [string, number, string | Uint8Array | null, ...PlainValue[]];

export interface NamedBuild {
  readonly view: string;
  readonly built: string;
}

export type ToWorker =
  /** Answers `ready`: builds all of these up to `end`. */
  | { readonly kind: 'begin'; readonly builds: readonly NamedBuild[]; readonly end: number }
  | { readonly kind: 'leave'; readonly built: string }
  | { readonly kind: 'answer'; readonly call: number; readonly documents: readonly DocumentWrite<object>[] | null };

export type Call =
  | {
      readonly what: 'save';
      readonly rows: readonly BuiltRow[];
      readonly checkpoint: number | null;
      readonly event: SeenEvent | null;
    }
  | { readonly what: 'load'; readonly ids: readonly string[] };

export type FromWorker =
  | { readonly kind: 'ready' }
  /** Each is answered, in order; with null where it failed. */
  | { readonly kind: 'call'; readonly built: string; readonly call: number; readonly asked: Call }
  | { readonly kind: 'progress'; readonly built: string; readonly position: number; readonly events: number }
  | {
      readonly kind: 'ended';
      readonly built: string;
      readonly isWhole: boolean;
      readonly events: number;
      readonly forgotten: readonly ForgottenDocuments[];
    };

/** Carries out a call of the worker on a build; null where it failed. */
export type CallHandler = (backfill: Backfill, call: Call) => readonly DocumentWrite<object>[] | null;

interface Joined {
  readonly backfill: Backfill;
  readonly end: (result: BackfillResult | null) => void;
  readonly fail: (error: unknown) => void;
  isReporting: boolean;
}

/** Large, because most objects live for one chunk of events, and documents until they are written. */
const youngMb = 192;

/** One pass over the events for the backfills that join before it begins. */
function startPass({ script, ...workerData }: BackfillSource, handle: CallHandler) {
  const worker = new Worker(script, {
    workerData: workerData satisfies BackfillWorkerData,
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  });
  const joined = new Map<string, Joined>();
  const over = Promise.withResolvers<void>();
  let end: number | null = null;
  let isOver = false;
  const send = (message: ToWorker): void => worker.postMessage(message);
  const leave = (built: string): Joined | undefined => {
    const one = joined.get(built);
    joined.delete(built);
    if (joined.size === 0) {
      isOver = true;
      over.resolve();
      void worker.terminate();
    }
    return one;
  };
  const stop = (): void => {
    for (const built of joined.keys()) leave(built)?.end(null);
  };
  const report = async (one: Joined, position: number, events: number): Promise<void> => {
    if (one.isReporting) return;
    one.isReporting = true;
    try {
      await one.backfill.onProgress(position, events);
      one.isReporting = false;
    } catch (error) {
      send({ kind: 'leave', built: one.backfill.built.name });
      leave(one.backfill.built.name)?.fail(error);
    }
  };
  const calls: Extract<FromWorker, { kind: 'call' }>[] = [];
  let isAnswering = false;
  /** One at a time: other work of this thread runs in between. */
  const answerAll = async (): Promise<void> => {
    if (isAnswering) return;
    isAnswering = true;
    for (let next = calls.shift(); next !== undefined; next = calls.shift()) {
      const one = joined.get(next.built);
      send({ kind: 'answer', call: next.call, documents: one === undefined ? null : handle(one.backfill, next.asked) });
      await nextTurn();
    }
    isAnswering = false;
  };
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'ready') {
      const builds = [...joined.values()].map(({ backfill }) => ({
        view: backfill.view.name,
        built: backfill.built.name,
      }));
      end = Math.min(...[...joined.values()].map(({ backfill }) => backfill.end));
      return send({ kind: 'begin', builds, end });
    }
    if (message.kind === 'call') {
      calls.push(message);
      void answerAll();
      return;
    }
    const one = joined.get(message.built);
    if (one === undefined) return;
    if (message.kind === 'progress') void report(one, message.position, message.events);
    else {
      const { isWhole, events, forgotten } = message;
      leave(message.built)?.end(isWhole && end !== null ? { position: end, events, forgotten } : null);
    }
  });
  // Where the worker fails, the views are built without it.
  worker.on('error', stop);
  worker.on('exit', stop);
  return {
    isOpen: () => end === null && !isOver,
    over: over.promise,
    stop,
    join: (backfill: Backfill): Promise<BackfillResult | null> =>
      new Promise((resolve, reject) => {
        const { name } = backfill.built;
        joined.set(name, { backfill, end: resolve, fail: reject, isReporting: false });
        const abort = (): void => {
          if (joined.has(name)) send({ kind: 'leave', built: name });
          leave(name)?.end(null);
        };
        backfill.signal.addEventListener('abort', abort, { once: true });
      }),
  };
}

export interface WorkerBackfiller extends Backfiller {
  stop(): Promise<void>;
}

export function createWorkerBackfiller(source: BackfillSource, handle: CallHandler): WorkerBackfiller {
  let pass: ReturnType<typeof startPass> | null = null;
  let isStopped = false;
  return {
    async run(backfill) {
      // A backfill that comes while a pass is under way joins the next one.
      while (pass !== null && !pass.isOpen()) await pass.over;
      if (isStopped || backfill.signal.aborted) return null;
      if (pass === null) {
        const started = startPass(source, handle);
        pass = started;
        void started.over.then(() => {
          if (pass === started) pass = null;
        });
      }
      return pass.join(backfill);
    },
    async stop() {
      isStopped = true;
      pass?.stop();
      await pass?.over;
    },
  };
}
