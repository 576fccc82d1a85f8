/** A bound on how much runs at the same time. p-limit does the work; this gives it the field's name and its queue a limit. */
import pLimit from 'p-limit';

export interface Semaphore {
  /** Runs `work` as soon as fewer than `maxConcurrent` others run, in the order of arrival. Rejects as `work` does. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** How many wait for their turn. */
  readonly waiting: number;
  /** How many run now. */
  readonly running: number;
}

export function createSemaphore(maxConcurrent: number): Semaphore {
  const limit = pLimit(maxConcurrent);
  return {
    run: (work) => limit(work),
    get waiting() {
      return limit.pendingCount;
    },
    get running() {
      return limit.activeCount;
    },
  };
}
