/**
 * Subscribers that have seen everything. Most commits hold nothing for most of them: these are not woken, and only told how far
 * they have come.
 */

export interface CommitWaiter {
  /**
   * Resolves after a commit with events of these kinds, null being any, to a position up to which none of them is missing; at
   * once where the subscription ends.
   */
  next(position: number, kinds: ReadonlySet<string> | null): Promise<number>;
  /** It waits no more. */
  leave(): void;
}

export interface CommitWaiters {
  join(signal: AbortSignal): CommitWaiter;
  /** Events of these kinds were committed, the last one at this position. */
  committed(kinds: ReadonlySet<string>, position: number): void;
  /** Whatever they wait for. */
  wakeAll(): void;
}

interface Waiting {
  position: number;
  readonly kinds: ReadonlySet<string> | null;
  readonly resolve: (position: number) => void;
}

export function createCommitWaiters(): CommitWaiters {
  const waiting = new Set<Waiting>();
  const wake = (one: Waiting): void => {
    waiting.delete(one);
    one.resolve(one.position);
  };
  return {
    join(signal) {
      let last: Waiting | null = null;
      const end = (): void => {
        if (last !== null) wake(last);
      };
      signal.addEventListener('abort', end, { once: true });
      return {
        next: (position, kinds) =>
          new Promise((resolve) => {
            last = { position, kinds, resolve };
            waiting.add(last);
            if (signal.aborted) end();
          }),
        leave: () => signal.removeEventListener('abort', end),
      };
    },

    committed(committedKinds, position) {
      const committed = [...committedKinds];
      for (const one of waiting) {
        const { kinds } = one;
        if (kinds === null || committed.some((kind) => kinds.has(kind))) wake(one);
        else one.position = Math.max(one.position, position);
      }
    },

    wakeAll() {
      for (const one of waiting) wake(one);
    },
  };
}
