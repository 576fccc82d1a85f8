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
  since: { readonly atMs: number; readonly use: ProcessorUse; readonly sentMs: number } | null;
}

export interface Beat {
  readonly atMs: number;
  readonly use: ProcessorUse;
  /** What all jobs that the process was ever sent may take of a core. */
  readonly sentMs: number;
}

/** The product itself was held up: what it did not read may be what held up the process. */
const lateBeatMs = 2_500;

export class JobWatch {
  readonly #marginMs: number;
  #lastMs: number | null = null;

  /** `marginMs` is for what is no job's: threads that start, messages. */
  constructor(marginMs: number) {
    this.#marginMs = marginMs;
  }

  /** The first job that is over its time, if any. Called at regular times while the process has jobs. */
  firstOver<Job extends WatchedJob>(jobs: Iterable<Job>, beat: Beat): Job | null {
    const isLate = this.#lastMs === null || beat.atMs - this.#lastMs > lateBeatMs;
    this.#lastMs = beat.atMs;
    let over: Job | null = null;
    for (const job of jobs) {
      if (isLate || job.since === null) job.since = beat;
      else if (over === null && this.#isOver(job.allowedMs, job.since, beat)) over = job;
    }
    return over;
  }

  #isOver(allowedMs: number, since: Beat, { atMs, use, sentMs }: Beat): boolean {
    const waitedMs = use.waitedMs - since.use.waitedMs;
    const ranMs = use.ranMs - since.use.ranMs;
    // Those sent later may run beside it.
    const laterMs = sentMs - since.sentMs;
    const longestMs = allowedMs + this.#marginMs;
    return atMs - since.atMs - waitedMs > longestMs || ranMs > longestMs + laterMs;
  }
}
