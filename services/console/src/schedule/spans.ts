/** Seconds as people say them, and back. Pure. */

const units = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
] as const;
export type SpanUnit = (typeof units)[number][0];

/** Seconds as people say them: `5 minutes`; in the unit that somebody wants, where that leaves no rest. */
export function spanOf(seconds: number, wanted?: SpanUnit): { readonly count: number; readonly unit: SpanUnit } {
  const [unit, size] = units.find(([name, size]) => name === wanted && seconds % size === 0) ??
    units.find(([, size]) => seconds > 0 && seconds % size === 0) ?? ['seconds', 1];
  return { count: seconds / size, unit };
}

export function secondsOf(count: number, unit: SpanUnit): number {
  return count * (units.find(([name]) => name === unit)?.[1] ?? 1);
}

export const spanUnits: readonly SpanUnit[] = units.map(([name]) => name);
