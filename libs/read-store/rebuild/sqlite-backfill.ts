/**
 * Views built in a thread, as far as the events lie back: it reads them once for all views that are built together and makes
 * the documents; whoever has the views' file open writes them, so that nobody waits for a lock, and has his other work done
 * between two writes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Backfill, BackfillResult, DocumentWrite, SeenEvent } from '../read-store.js';
import type { PlainValue } from '../indexed-fields.js';

/** Where such a thread begins, and what it reads. */
export interface BackfillSource {
  readonly thread: URL;
  readonly eventsFile: string;
}

/** Id, revision, the document's text or null, and the values of its searched fields. */
export type BuiltRow = readonly [string, number, string | null, ...PlainValue[]];

export interface NamedBuild {
  readonly view: string;
  readonly built: string;
}

export type ToThread =
  /** Answers `ready`: everything up to `end` for all of these. */
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

export type FromThread =
  | { readonly kind: 'ready' }
  /** Each is answered, in their order; with null where it failed. */
  | { readonly kind: 'call'; readonly built: string; readonly call: number; readonly asked: Call }
  | { readonly kind: 'come'; readonly built: string; readonly position: number; readonly events: number }
  | { readonly kind: 'ended'; readonly built: string; readonly isWhole: boolean; readonly events: number };

/** Does what the thread asks for, on a view's build; null where it failed. */
export type Answer = (build: Backfill, asked: Call) => readonly DocumentWrite<object>[] | null;

interface Joined {
  readonly build: Backfill;
  readonly end: (result: BackfillResult | null) => void;
  readonly fail: (error: unknown) => void;
  isTelling: boolean;
}

/** Young objects of so much are collected together: most live for one stretch of events, documents until they are written. */
const youngMb = 192;

/** One pass over the events for the builds that join before it begins. */
function startPass({ thread, eventsFile }: BackfillSource, answer: Answer) {
  const worker = new Worker(thread, {
    workerData: eventsFile,
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  });
  const joined = new Map<string, Joined>();
  const over = Promise.withResolvers<void>();
  let end: number | null = null;
  let isOver = false;
  const send = (message: ToThread): void => worker.postMessage(message);
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
  const tell = async (one: Joined, position: number, events: number): Promise<void> => {
    if (one.isTelling) return;
    one.isTelling = true;
    try {
      await one.build.come(position, events);
      one.isTelling = false;
    } catch (error) {
      send({ kind: 'leave', built: one.build.built.name });
      leave(one.build.built.name)?.fail(error);
    }
  };
  const asked: Extract<FromThread, { kind: 'call' }>[] = [];
  let isAnswering = false;
  /** One at a time: whoever else waits has his turn in between. */
  const answerAll = async (): Promise<void> => {
    if (isAnswering) return;
    isAnswering = true;
    for (let next = asked.shift(); next !== undefined; next = asked.shift()) {
      const one = joined.get(next.built);
      send({ kind: 'answer', call: next.call, documents: one === undefined ? null : answer(one.build, next.asked) });
      await nextTurn();
    }
    isAnswering = false;
  };
  worker.on('message', (message: FromThread) => {
    if (message.kind === 'ready') {
      const builds = [...joined.values()].map(({ build }) => ({ view: build.view.name, built: build.built.name }));
      end = Math.min(...[...joined.values()].map(({ build }) => build.end));
      return send({ kind: 'begin', builds, end });
    }
    if (message.kind === 'call') {
      asked.push(message);
      void answerAll();
      return;
    }
    const one = joined.get(message.built);
    if (one === undefined) return;
    if (message.kind === 'come') void tell(one, message.position, message.events);
    else {
      const { isWhole, events } = message;
      leave(message.built)?.end(isWhole && end !== null ? { position: end, events } : null);
    }
  });
  // What a thread could not do is done without one.
  worker.on('error', stop);
  worker.on('exit', stop);
  return {
    isOpen: () => end === null && !isOver,
    over: over.promise,
    stop,
    join: (build: Backfill): Promise<BackfillResult | null> =>
      new Promise((resolve, reject) => {
        const { name } = build.built;
        joined.set(name, { build, end: resolve, fail: reject, isTelling: false });
        const abort = (): void => {
          if (joined.has(name)) send({ kind: 'leave', built: name });
          leave(name)?.end(null);
        };
        build.signal.addEventListener('abort', abort, { once: true });
      }),
  };
}

export interface Ahead {
  build(build: Backfill): Promise<BackfillResult | null>;
  stop(): Promise<void>;
}

export function createAhead(place: BackfillSource, answer: Answer): Ahead {
  let pass: ReturnType<typeof startPass> | null = null;
  let isStopped = false;
  return {
    async build(build) {
      // Who comes while others are on their way has the next pass.
      while (pass !== null && !pass.isOpen()) await pass.over;
      if (isStopped || build.signal.aborted) return null;
      if (pass === null) {
        const started = startPass(place, answer);
        pass = started;
        void started.over.then(() => {
          if (pass === started) pass = null;
        });
      }
      return pass.join(build);
    },
    async stop() {
      isStopped = true;
      pass?.stop();
      await pass?.over;
    },
  };
}
