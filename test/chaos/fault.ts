/** Something that can happen to an installation, and the record of what happened. */

export interface Fault {
  readonly name: string;
  /** A process dies of it. */
  readonly isKill: boolean;
  /** How often it is chosen beside the others. */
  readonly weight: number;
  /** Breaks something and repairs it; the caller checks whether the installation recovers. */
  happen(random: () => number): Promise<void>;
}

export interface Happened {
  readonly name: string;
  readonly isKill: boolean;
  /** From the mending until everything was ready and a run that became due afterwards was recorded. */
  readonly healedMs: number;
}

/** One of them, by weight. */
export function choose(faults: readonly Fault[], random: () => number): Fault {
  let left = random() * faults.reduce((sum, { weight }) => sum + weight, 0);
  for (const fault of faults) {
    left -= fault.weight;
    if (left < 0) return fault;
  }
  const [last] = faults.slice(-1);
  if (last === undefined) throw new Error('there are no faults to choose from');
  return last;
}

export const between = (random: () => number, from: number, to: number): number => from + random() * (to - from);

export const lasting = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
