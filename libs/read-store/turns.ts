/** One at a time, in the order in which they came. */
export interface Turns {
  /** Runs `work` once everything that came before has ended, however it ended. */
  take<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves with how to end the turn, once it is there. */
  hold(): Promise<() => void>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  const take = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
  return {
    take,
    hold: () =>
      new Promise((resolve) => {
        void take(() => new Promise<void>((release) => resolve(release)));
      }),
  };
}
