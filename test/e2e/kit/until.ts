/** Waits for a thing itself, never for a time: asks a probe again and again, up to a deadline that says what did not come. */

import { jest } from '@jest/globals';

const lookAgainMs = 20;
/** A busy machine is no fault, so deadlines are far beyond what is usual. */
const defaultDeadlineMs = 60_000;

// A test's own deadline names nothing, so it is later than the deadlines of what it waits for.
jest.setTimeout(600_000);

/** Nothing yet: look again. */
type NotYet = null | undefined | false;

/** What the probe finds at last. Rejects at the deadline, naming what was waited for and the last error of the probe. */
export async function until<Found>(
  what: string,
  probe: () => Found | NotYet | Promise<Found | NotYet>,
  deadlineMs = defaultDeadlineMs,
): Promise<Found> {
  const givesUpAtMs = performance.now() + deadlineMs;
  let trouble = '';
  for (;;) {
    try {
      const found = await probe();
      if (found !== null && found !== undefined && found !== false) return found;
      trouble = '';
    } catch (error) {
      trouble = ` (${String(error)})`;
    }
    if (performance.now() >= givesUpAtMs) throw new Error(`${what}: not within ${deadlineMs / 1_000} s${trouble}`);
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}

/** Seconds that a seed decides: how far into something a process is killed. Not for waiting until something is there. */
export function momentsLater(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Numbers from 0 up to 1 that a seed decides (mulberry32): a failing run can be run again. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
