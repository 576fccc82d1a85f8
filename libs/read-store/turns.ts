/** One at a time, in the order in which they came. */
export interface Turns {
  /** Runs `work` once everything that came before has ended, however it ended. */
  take<T>(work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take(work) {
      const turn = last.then(work, work);
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
