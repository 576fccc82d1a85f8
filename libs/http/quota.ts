/** Request budgets: so many in a fixed window that begins with the first request, counted over all gateways together. */
import type { Clock } from '#runtime/clock';
import { compareAndSet, type Contended } from '#shared-state/compare-and-set';
import type { SharedState, StateCollection } from '#shared-state/shared-state';

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

interface Window extends Contended {
  readonly startedAtMs: number;
  /** What gateways have reserved, spent or not. */
  readonly used: number;
}

export const quotaCollection: StateCollection<Window> = { name: 'quota', indexedBy: 'expiresAtMs' };

/** What this process has reserved of a window; `left` is not spent yet. */
interface Reserve {
  readonly startedAtMs: number;
  readonly endsAtMs: number;
  readonly used: number;
  left: number;
}

/** A flood from made-up addresses must not fill the memory. */
const maxSubjects = 100_000;
/** A gateway takes this part of what remains at once: few writes while there is plenty, exact where it runs out. */
const partTaken = 1 / 32;

/**
 * One gateway's view of the shared counts. With several gateways a budget is never exceeded; the last few per cent of it
 * may be refused by one while another holds them in reserve.
 */
export function createQuota(sharedState: SharedState, clock: Clock): Quota {
  const reserves = new Map<string, Reserve>();
  const reserving = new Map<string, Promise<Reserve>>();

  const makeRoom = (nowMs: number): void => {
    for (const [subject, { endsAtMs }] of reserves) if (endsAtMs <= nowMs) reserves.delete(subject);
    for (const subject of reserves.keys()) {
      if (reserves.size < maxSubjects) break;
      reserves.delete(subject);
    }
  };

  const reserve = async (subject: string, { limit, windowMs }: Budget): Promise<Reserve> => {
    let taken = 0;
    let current: Window | null = null;
    const changed = await compareAndSet(sharedState, quotaCollection, subject, (stored) => {
      const nowMs = clock.now();
      current = stored !== null && stored.startedAtMs + windowMs > nowMs ? stored : null;
      const used = current?.used ?? 0;
      taken = Math.max(0, Math.min(limit - used, Math.ceil((limit - used) * partTaken)));
      if (taken === 0 && current !== null) return null;
      const startedAtMs = current?.startedAtMs ?? nowMs;
      return { startedAtMs, used: used + taken, expiresAtMs: startedAtMs + windowMs };
    });
    const { startedAtMs, used } = changed ?? current ?? { startedAtMs: clock.now(), used: 0 };
    const reserved = { startedAtMs, endsAtMs: startedAtMs + windowMs, used, left: taken };
    if (!reserves.has(subject) && reserves.size >= maxSubjects) makeRoom(clock.now());
    reserves.set(subject, reserved);
    return reserved;
  };

  /** Requests that come together wait for one reservation. */
  const reserveOnce = (subject: string, budget: Budget): Promise<Reserve> => {
    const running = reserving.get(subject);
    if (running !== undefined) return running;
    const started = reserve(subject, budget).finally(() => reserving.delete(subject));
    reserving.set(subject, started);
    return started;
  };

  /** The reserve, where something is left or the budget is known to be used up; else a new reservation. */
  const current = async (subject: string, budget: Budget): Promise<Reserve> => {
    const known = reserves.get(subject);
    const isOpen = known !== undefined && known.startedAtMs + budget.windowMs > clock.now();
    return isOpen && (known.left > 0 || known.used >= budget.limit) ? known : reserveOnce(subject, budget);
  };

  return {
    async take(subject, budget) {
      const { limit, windowMs } = budget;
      for (;;) {
        const held = await current(subject, budget);
        const resetAtMs = held.startedAtMs + windowMs;
        const spent = held.used - held.left;
        if (held.left > 0 && spent < limit) {
          held.left -= 1;
          return { allowed: true, limit, remaining: limit - spent - 1, resetAtMs };
        }
        // Others that waited for the same reservation may have used it up: there is more.
        if (held.used >= limit) return { allowed: false, limit, remaining: 0, resetAtMs };
      }
    },
  };
}

/** The headers that show a client its budget: the widespread three and the IETF pair. */
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
