/**
 * Counts that many ask for at once: one runs at a time for each question, and who comes meanwhile shares the next one. None
 * is answered by a count that began before it was asked for, so what was written before is in it.
 */
interface Running {
  readonly current: Promise<number>;
  /** Begins once the current one has ended. */
  next: Promise<number> | null;
}

export type SharedCounts = (question: string, count: () => Promise<number>) => Promise<number>;

const nothing = (): void => undefined;

export function createSharedCounts(): SharedCounts {
  const running = new Map<string, Running>();

  const begin = (question: string, count: () => Promise<number>): Promise<number> => {
    const one: Running = { current: count(), next: null };
    running.set(question, one);
    const end = (): void => {
      if (one.next === null && running.get(question) === one) running.delete(question);
    };
    one.current.then(end, end);
    return one.current;
  };

  return (question, count) => {
    const known = running.get(question);
    if (known === undefined) return begin(question, count);
    known.next ??= known.current.then(nothing, nothing).then(() => begin(question, count));
    return known.next;
  };
}
