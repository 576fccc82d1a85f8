/** Time comes in from here, so that specs can hold it still. */

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** RFC 3339 in UTC with milliseconds and `Z`: the one way times are written in answers and events. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export const CLOCK = Symbol('Clock');
