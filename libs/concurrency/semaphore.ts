/** A bound on how much runs at the same time. */
import { Fifo } from './fifo.js';

export interface Semaphore {
  /** Runs `work` as soon as fewer than `maxConcurrent` others run, in the order of arrival. Rejects as `work` does. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** How many wait for their turn. */
  readonly waiting: number;
  /** How many run now. */
  readonly running: number;
}

export function createSemaphore(maxConcurrent: number): Semaphore {
  const waiting = new Fifo<() => void>();
  let running = 0;
  /** To the one that waits for longest. */
  const passOn = (): void => {
    const next = waiting.take();
    if (next === undefined) running -= 1;
    else next();
  };
  return {
    async run(work) {
      if (running < maxConcurrent) running += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        passOn();
      }
    },
    get waiting() {
      return waiting.size;
    },
    get running() {
      return running;
    },
  };
}
