/** Request budgets: so many in a fixed window that begins with the first request. */
import type { Clock } from '#runtime/clock';

export interface Budget {
  readonly limit: number;
  readonly windowMs: number;
}

export interface QuotaState {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends and the budget is whole again. */
  readonly resetAtMs: number;
}

/** Counts are kept per subject, not per budget: a change of plan keeps what was used. */
export interface Quota {
  /** Takes one from the subject's budget; what is refused costs nothing. */
  take(subject: string, budget: Budget): Promise<QuotaState>;
}

export const QUOTA = Symbol('Quota');

interface Window {
  startedAtMs: number;
  windowMs: number;
  used: number;
}

/** So many subjects are remembered at most: a flood from made-up addresses must not fill the memory. */
const maxSubjects = 100_000;

/** Counters of one process. */
export function createProcessQuota(clock: Clock): Quota {
  const windows = new Map<string, Window>();

  const makeRoom = (nowMs: number): void => {
    for (const [subject, window] of windows) {
      if (window.startedAtMs + window.windowMs <= nowMs) windows.delete(subject);
    }
    for (const subject of windows.keys()) {
      if (windows.size < maxSubjects) break;
      windows.delete(subject);
    }
  };

  return {
    async take(subject, { limit, windowMs }) {
      const nowMs = clock.now();
      let window = windows.get(subject);
      if (window === undefined || window.startedAtMs + windowMs <= nowMs) {
        if (window === undefined && windows.size >= maxSubjects) makeRoom(nowMs);
        window = { startedAtMs: nowMs, windowMs, used: 0 };
        windows.set(subject, window);
      }
      const allowed = window.used < limit;
      if (allowed) window.used += 1;
      return {
        allowed,
        limit,
        remaining: Math.max(0, limit - window.used),
        resetAtMs: window.startedAtMs + windowMs,
      };
    },
  };
}

/** The headers that tell a client of its budget: the widespread three and the IETF pair. */
export function quotaHeaders(state: QuotaState, windowMs: number, nowMs: number): Record<string, string> {
  const resetSeconds = Math.max(0, Math.ceil((state.resetAtMs - nowMs) / 1_000));
  return {
    'x-ratelimit-limit': String(state.limit),
    'x-ratelimit-remaining': String(state.remaining),
    'x-ratelimit-reset': String(Math.ceil(state.resetAtMs / 1_000)),
    'ratelimit-policy': `"organization";q=${state.limit};w=${windowMs / 1_000}`,
    ratelimit: `"organization";r=${state.remaining};t=${resetSeconds}`,
  };
}
