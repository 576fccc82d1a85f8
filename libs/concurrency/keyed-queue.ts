/** Order per key: work of the same key runs one after the other in the order of arrival, work of different keys side by side. */

export interface KeyedQueue {
  /** Runs `work` once all earlier work of its key has settled; at once where there is none. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Resolves once everything that was queued so far has settled. */
  idle(): Promise<void>;
}

/** Work whose error `failsQueued` accepts rejects the work that is queued behind it, too; any other failure stays its own. */
export function createKeyedQueue(failsQueued: (error: unknown) => boolean = () => false): KeyedQueue {
  /** The settlement of the last work of each key that has any. */
  const tails = new Map<string, Promise<void>>();
  return {
    async run(key, work) {
      const earlier = tails.get(key);
      const outcome = earlier === undefined ? work() : earlier.then(work);
      const tail = outcome.then(
        () => undefined,
        (error: unknown) => {
          if (failsQueued(error)) throw error;
        },
      );
      // Each caller gets its own outcome; with nothing queued behind, nobody awaits the tail.
      tail.catch(() => undefined);
      tails.set(key, tail);
      try {
        return await outcome;
      } finally {
        if (tails.get(key) === tail) tails.delete(key);
      }
    },
    async idle() {
      await Promise.allSettled(tails.values());
    },
  };
}
