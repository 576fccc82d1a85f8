/** Mutual exclusion within one process: one at a time, in the order of arrival. */

export interface Mutex {
  /** Runs `work` once everything that arrived earlier has settled, however it settled. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves with the release function once the mutex is free. */
  acquire(): Promise<() => void>;
}

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  const run = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  return {
    run,
    acquire: () =>
      new Promise((resolve) => {
        void run(() => new Promise<void>((release) => resolve(release)));
      }),
  };
}
