/** How far one partition is done: handled in any order, committed up to the first message that is not. */

export interface TakenOffset {
  readonly offset: number;
  isDone: boolean;
}

interface Entry extends TakenOffset {
  readonly mark: string;
}

/** A record as the log names it. `mark`: what another record at the same offset of another log would not have. */
export interface RecordPlace {
  readonly offset: number;
  readonly mark: string;
}

export interface Progress {
  /** A group was joined: what was taken and not committed is fetched once more. */
  expectRepeats(): void;
  /** False where a batch that begins so cannot be the continuation: the log was made anew or its offset set back. */
  continuesWith(first: RecordPlace): boolean;
  /** null: it was taken before. */
  take(record: RecordPlace): TakenOffset | null;
  /** What to commit, that is the next offset to read after a restart; null where that is committed already. */
  uncommitted(): number | null;
  committed(offset: number): void;
  /** Offsets between the first that is not done and the last that was taken. */
  span(): number;
}

export function createProgress(): Progress {
  /** Everything taken that is not committed, in order; those before `firstKept` are committed too. */
  let taken: Entry[] = [];
  let firstKept = 0;
  /** Those before it are done. */
  let firstOpen = 0;
  let lastTaken = -1;
  /** Where the next batch begins; null where that is open. */
  let expected: number | null = null;
  /** What is committed, or where it all began. */
  let floor: number | null = null;

  const advance = (): void => {
    while (taken[firstOpen]?.isDone === true) firstOpen += 1;
  };
  const next = (): number => taken[firstOpen]?.offset ?? lastTaken + 1;

  return {
    expectRepeats() {
      expected = null;
    },

    continuesWith({ offset, mark }) {
      if (offset < (expected ?? floor ?? 0)) return false;
      if (offset > lastTaken) return true;
      const known = taken.slice(firstKept).find((entry) => entry.offset === offset);
      return known === undefined || known.mark === mark;
    },

    take({ offset, mark }) {
      floor ??= offset;
      expected = offset + 1;
      if (offset <= lastTaken) return null;
      const entry = { offset, mark, isDone: false };
      taken.push(entry);
      lastTaken = offset;
      return entry;
    },

    uncommitted() {
      advance();
      return floor === null || next() <= floor ? null : next();
    },

    committed(offset) {
      floor = Math.max(floor ?? 0, offset);
      while ((taken[firstKept]?.offset ?? Infinity) < floor && firstKept < firstOpen) firstKept += 1;
      // Dropped in large pieces: one by one, each would move all the others.
      if (firstKept > 1_024 && firstKept * 2 > taken.length) {
        taken = taken.slice(firstKept);
        firstOpen -= firstKept;
        firstKept = 0;
      }
    },

    span() {
      advance();
      return lastTaken + 1 - next();
    },
  };
}
