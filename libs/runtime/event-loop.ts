/** How long the event loop was held, and by what: one long synchronous piece of work delays everything else of a process. */
import { createHistogram } from 'node:perf_hooks';
import type { Logger } from './logger.js';

export interface Work {
  /** Such as `delivery`, or the message that is handled. */
  readonly what: string;
  /** Of the task, delivery or request. */
  readonly id: string;
}

const heldTooLongMs = 500;
const lookEveryMs = 20;
const maxNamed = 5;

/** In the order in which it was begun. */
const inProgress = new Set<Work>();

/** Runs work that is named where the loop is held while it is in progress. */
export async function asWork<T>(work: Work, run: () => Promise<T>): Promise<T> {
  inProgress.add(work);
  try {
    return await run();
  } finally {
    inProgress.delete(work);
  }
}

/** In microseconds. Not Node's own monitor: that one misses what holds the loop right after it is reset. */
const delays = createHistogram();
const toSeconds = (microseconds: number): number => (delays.count === 0 ? 0 : microseconds / 1e6);

/** How long the loop was held, in seconds, since this was called last. */
export function takeEventLoopDelay(): { readonly p99: number; readonly max: number } {
  const taken = { p99: toSeconds(delays.percentile(99)), max: toSeconds(delays.max) };
  delays.reset();
  return taken;
}

export interface EventLoopWatch {
  /** Says so where the loop was held for too long by `nowMs`. */
  look(nowMs: number): void;
  stop(): void;
}

/** The most recent work is named first: most often it holds the loop where it begins. */
function report(logger: Logger, heldMs: number): void {
  const recent = [...inProgress].reverse().slice(0, maxNamed);
  logger.warn(
    { heldMs: Math.round(heldMs), inProgress: inProgress.size, recent: recent.map(({ what, id }) => `${what} ${id}`) },
    'the event loop was held: everything else had to wait',
  );
}

export function watchEventLoop(logger: Logger): EventLoopWatch {
  let lastMs = performance.now();
  const look = (nowMs: number): void => {
    const heldMs = nowMs - lastMs - lookEveryMs;
    lastMs = nowMs;
    delays.record(Math.max(1, Math.round(heldMs * 1_000)));
    if (heldMs >= heldTooLongMs) report(logger, heldMs);
  };
  const timer = setInterval(() => look(performance.now()), lookEveryMs).unref();
  return {
    look,
    stop() {
      clearInterval(timer);
    },
  };
}
