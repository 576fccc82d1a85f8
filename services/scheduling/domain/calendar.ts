/** Which slots are due: pure arithmetic over a schedule. Times are epoch milliseconds. */

export interface DueSlots {
  /** The latest slot at or before now. */
  readonly latestMs: number;
  /** Slots before it that were not fired. */
  readonly missed: { readonly fromMs: number; readonly toMs: number; readonly count: number } | null;
  readonly nextMs: number;
}

/** Slots of an interval lie at `nextDueMs + k · interval`: they do not drift with the time a run takes. `nowMs` is at or after `nextDueMs`. */
export function dueSlots(nextDueMs: number, intervalSeconds: number, nowMs: number): DueSlots {
  const intervalMs = intervalSeconds * 1_000;
  const count = Math.floor((nowMs - nextDueMs) / intervalMs);
  const latestMs = nextDueMs + count * intervalMs;
  return {
    latestMs,
    missed: count === 0 ? null : { fromMs: nextDueMs, toMs: latestMs - intervalMs, count },
    nextMs: latestMs + intervalMs,
  };
}
