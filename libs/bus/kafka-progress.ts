/** How far one partition is done: handled in any order, committed up to the first message that is not. */

export interface TakenOffset {
  readonly offset: number;
  isDone: boolean;
}

export interface Progress {
  /** A group was joined: what was taken and not committed is fetched once more. */
  expectRepeats(): void;
  /** False where a batch that begins here cannot be the continuation: the log was made anew or its offset set back. */
  continuesAt(firstOffset: number): boolean;
  /** null: this one is in hand or done already. */
  take(offset: number): TakenOffset | null;
  /** What to commit, that is the next offset to read after a restart; null where that is committed already. */
  uncommitted(): number | null;
  committed(offset: number): void;
  /** Offsets between the first that is not done and the last that was taken. */
  span(): number;
}

export function createProgress(): Progress {
  let taken: TakenOffset[] = [];
  /** Those before it are done. */
  let first = 0;
  let lastTaken = -1;
  /** Where the next batch begins; null where that is open. */
  let expected: number | null = null;
  /** What is committed, or where it all began. */
  let floor: number | null = null;

  const advance = (): void => {
    while (taken[first]?.isDone === true) first += 1;
    // Dropped in large pieces: one by one, each would move all the others.
    if (first > 1_024 && first * 2 > taken.length) {
      taken = taken.slice(first);
      first = 0;
    }
  };
  const next = (): number => taken[first]?.offset ?? lastTaken + 1;

  return {
    expectRepeats() {
      expected = null;
    },

    continuesAt(firstOffset) {
      return firstOffset >= (expected ?? floor ?? 0);
    },

    take(offset) {
      floor ??= offset;
      expected = offset + 1;
      if (offset <= lastTaken) return null;
      const entry = { offset, isDone: false };
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
    },

    span() {
      advance();
      return lastTaken + 1 - next();
    },
  };
}
