/**
 * Whether a process that holds a job does what it should. What it says is not asked: a thread of it runs, or waits for a
 * processor, as long as it has a job, and all of them together run no longer than their jobs may.
 */
import type { ProcessorUse } from './processor-use.js';

/** A job in the process, as far as it is watched. */
export interface WatchedJob {
  /** What it and those before it may take of a core, one after the other. */
  readonly allowedMs: number;
  /** The first look at the process after the job was sent. */
  since: SeenBeat | null;
}

export interface Beat {
  readonly atMs: number;
  readonly use: ProcessorUse;
  /** What all jobs that the process was ever sent may take of a core. */
  readonly sentMs: number;
  /** How many it has answered. */
  readonly answers: number;
}

export interface SeenBeat extends Beat {
  /** What had not been accounted for by then, and was a wait for a processor. */
  readonly uncountedMs: number;
}

export interface WatchMargins {
  /** For what is no job's: threads that start, messages. */
  readonly overMs: number;
  /** So long a process may have jobs, do nothing and answer none: what is read from a disk. */
  readonly idleMs: number;
}

/** The product itself was held up: what it did not read may be what held up the process. */
const lateBeatMs = 500;

export class JobWatch {
  readonly #margins: WatchMargins;
  #last: Beat | null = null;
  #idleMs = 0;
  /** The kernel counts a wait for a processor at its end: until then a thread only shows that it could run. */
  #uncountedMs = 0;

  constructor(margins: WatchMargins) {
    this.#margins = margins;
  }

  /** The first job that is over its time, if any. Called at regular times while the process has jobs. */
  firstOver<Job extends WatchedJob>(jobs: Iterable<Job>, beat: Beat): Job | null {
    const last = this.#last;
    const isLate = last === null || beat.atMs - last.atMs > lateBeatMs;
    this.#last = beat;
    const all = [...jobs];
    const before = all.filter(({ since }) => since !== null);
    const unaccountedMs = last === null ? 0 : idleBetween(last, beat);
    if (beat.use.isRunnable) this.#uncountedMs += unaccountedMs;
    const over = isLate ? null : (before.find(({ allowedMs, since }) => this.#isOver(allowedMs, since, beat)) ?? null);
    // A job that was there at the last look kept a thread busy all the time since.
    const isIdle = !isLate && before.length > 0 && beat.answers === last.answers;
    this.#idleMs = isIdle ? this.#idleMs + (beat.use.isRunnable ? 0 : unaccountedMs) : 0;
    const seen = { ...beat, uncountedMs: this.#uncountedMs };
    for (const job of all) if (isLate || job.since === null) job.since = seen;
    // One that never answered may still read its own program.
    if (beat.answers > 0 && this.#idleMs > this.#margins.idleMs) return before[0] ?? null;
    return over;
  }

  #isOver(allowedMs: number, since: SeenBeat | null, { atMs, use, sentMs }: Beat): boolean {
    if (since === null) return false;
    const waitedMs = use.waitedMs - since.use.waitedMs + (this.#uncountedMs - since.uncountedMs);
    const ranMs = use.ranMs - since.use.ranMs;
    // Those sent later may run beside it.
    const laterMs = sentMs - since.sentMs;
    const longestMs = allowedMs + this.#margins.overMs;
    return atMs - since.atMs - waitedMs > longestMs || ranMs > longestMs + laterMs;
  }
}

function idleBetween(before: Beat, { atMs, use }: Beat): number {
  const busyMs = use.ranMs - before.use.ranMs + (use.waitedMs - before.use.waitedMs);
  return Math.max(0, atMs - before.atMs - busyMs);
}
