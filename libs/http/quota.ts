/** Request budgets: so many in a fixed window that begins with the first request, counted over all gateways together. */
import { sleep } from '#concurrency/sleep';
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
  /** Takes `cost` from the subject's budget, all of it or nothing; what is refused costs nothing. */
  take(subject: string, budget: Budget, cost?: number): Promise<QuotaState>;
  /** Puts back what `take` took for a request that is refused after all. What cannot be put back stays taken. */
  putBack(subject: string, cost: number): Promise<void>;
  /** The budget as it stands; takes nothing. null: no window has begun. */
  look(subject: string, budget: Budget): Promise<QuotaState | null>;
  /** Gives back what was reserved and not spent. */
  close(): Promise<void>;
}

export const QUOTA = Symbol('Quota');

interface Window extends Contended {
  readonly startedAtMs: number;
  /** What gateways have reserved, spent or not. */
  readonly used: number;
  /** Until then some of it may be held unspent by a gateway that gives it back. */
  readonly heldUntilMs?: number;
}

export const quotaCollection: StateCollection<Window> = { name: 'quota', indexedBy: 'expiresAtMs' };

/** What this process has reserved of a window; `left` is not spent yet. */
interface Reserve {
  readonly startedAtMs: number;
  readonly used: number;
  readonly heldUntilMs: number;
  left: number;
  /** Taken out of it, for how much the next one should hold. */
  spent: number;
}

interface Waiting {
  readonly cost: number;
  readonly budget: Budget;
  readonly decided: (state: QuotaState) => void;
  readonly failed: (error: unknown) => void;
}

/** A flood from made-up addresses must not fill the memory. */
const maxSubjects = 100_000;
/** A gateway under load reserves what it spent in the time before, so that not every request is a write. */
const holdMs = 200;
const mostHeld = 256;
/** Less demand than this is served request by request. */
const leastHeld = 8;
/** Nothing is held where less than this is left: there each request counts. */
const plentyAbove = 2_000;
/** After `holdMs` a gateway gives back; the write takes its time. */
const givenBackWithinMs = 250;

function stateOf(held: Reserve, { limit, windowMs }: Budget, allowed: boolean): QuotaState {
  const remaining = Math.max(0, limit - (held.used - held.left));
  return { allowed, limit, remaining, resetAtMs: held.startedAtMs + windowMs };
}

/**
 * One gateway's view of the shared counts. Requests that wait together are counted by one write. Where much is left a gateway
 * under load reserves some more for a moment; where the budget runs out nothing is reserved, and who finds it used up waits
 * until others have given back what they hold. So gateways together spend a budget to the last request and never more.
 */
export function createQuota(sharedState: SharedState, clock: Clock): Quota {
  const reserves = new Map<string, Reserve>();
  const queues = new Map<string, Waiting[]>();
  const timers = new Map<string, NodeJS.Timeout>();
  /** Let in while the shared count could not be written; counted with the next write. A disk that is full stops no reads. */
  const owed = new Map<string, number>();

  const makeRoom = (): void => {
    for (const [subject, { left }] of reserves) {
      if (reserves.size < maxSubjects) break;
      if (left === 0) reserves.delete(subject);
    }
  };

  const openReserve = (subject: string, { windowMs }: Budget): Reserve | undefined => {
    const held = reserves.get(subject);
    return held !== undefined && held.startedAtMs + windowMs > clock.now() ? held : undefined;
  };

  /** Null where it cannot be said without a look at the shared count. */
  const takeHeld = (subject: string, budget: Budget, cost: number): QuotaState | null => {
    const held = openReserve(subject, budget);
    if (held === undefined) return null;
    if (held.left >= cost && held.used - held.left + cost <= budget.limit) {
      held.left -= cost;
      held.spent += cost;
      return stateOf(held, budget, true);
    }
    // Nothing comes back to a budget that nobody holds a part of.
    const isUsedUp = held.left === 0 && held.used >= budget.limit && held.heldUntilMs <= clock.now();
    return isUsedUp ? stateOf(held, budget, false) : null;
  };

  /** Puts what is not spent back, if the window is still the same. */
  const giveBack = async (subject: string): Promise<void> => {
    clearTimeout(timers.get(subject));
    timers.delete(subject);
    const held = reserves.get(subject);
    if (held === undefined || held.left === 0) return;
    const { left, startedAtMs } = held;
    held.left = 0;
    await compareAndSet(sharedState, quotaCollection, subject, (stored) =>
      stored === null || stored.startedAtMs !== startedAtMs
        ? null
        : { ...stored, used: Math.max(0, stored.used - left) },
    );
  };

  const giveBackSoon = (subject: string): void => {
    if (timers.has(subject)) return;
    // What cannot be given back now stays taken until the window ends.
    const timer = setTimeout(() => void giveBack(subject).catch(() => undefined), holdMs).unref();
    timers.set(subject, timer);
  };

  /** One write for all that wait: for those that fit, in their order, and where there is plenty for those to come. */
  const reserve = async (subject: string, waiting: readonly Waiting[], budget: Budget): Promise<Reserve> => {
    const { limit, windowMs } = budget;
    const own = openReserve(subject, budget);
    const [ownLeft, demand] = [own?.left ?? 0, own?.spent ?? 0];
    const debt = owed.get(subject) ?? 0;
    let taken = 0;
    let current: Window | null = null;
    const changed = await compareAndSet(sharedState, quotaCollection, subject, (stored) => {
      const nowMs = clock.now();
      current = stored !== null && stored.startedAtMs + windowMs > nowMs ? stored : null;
      const used = (current?.used ?? 0) + debt;
      const kept = current !== null && current.startedAtMs === own?.startedAtMs ? ownLeft : 0;
      let free = Math.max(0, limit - used) + kept;
      for (const { cost } of waiting) if (cost <= free) free -= cost;
      const needed = Math.max(0, limit - used) - free;
      const more = demand >= leastHeld && free > plentyAbove ? Math.min(mostHeld, demand) : 0;
      taken = needed + more;
      if (taken <= 0 && debt === 0 && current !== null) return null;
      const startedAtMs = current?.startedAtMs ?? nowMs;
      const heldUntilMs = more > 0 ? nowMs + holdMs + givenBackWithinMs : (current?.heldUntilMs ?? 0);
      return { startedAtMs, used: used + taken, heldUntilMs, expiresAtMs: startedAtMs + windowMs };
    });
    if (changed !== null && debt > 0) owed.set(subject, (owed.get(subject) ?? 0) - debt);
    if (owed.get(subject) === 0) owed.delete(subject);
    const window = changed ?? current ?? { startedAtMs: clock.now(), used: 0, heldUntilMs: 0 };
    const isSame = own?.startedAtMs === window.startedAtMs;
    const left = (isSame ? own.left : 0) + (changed === null ? 0 : taken);
    const { startedAtMs, used, heldUntilMs = 0 } = window;
    const held = { startedAtMs, used, heldUntilMs, left, spent: 0 };
    if (!reserves.has(subject) && reserves.size >= maxSubjects) makeRoom();
    reserves.set(subject, held);
    return held;
  };

  const decide = (subject: string, { budget, cost, decided }: Waiting): boolean => {
    const state = takeHeld(subject, budget, cost);
    if (state !== null) decided(state);
    return state !== null;
  };

  /** What cannot be counted now is let in as far as the budget goes, where this gateway knows how far that is. */
  const owe = (subject: string, { cost, budget, decided, failed }: Waiting, error: unknown): void => {
    const held = openReserve(subject, budget);
    const debt = (owed.get(subject) ?? 0) + cost;
    const used = held === undefined ? Infinity : held.used - held.left + debt;
    if (held === undefined || used > budget.limit || (!owed.has(subject) && owed.size >= maxSubjects)) {
      failed(error);
      return;
    }
    owed.set(subject, debt);
    const resetAtMs = held.startedAtMs + budget.windowMs;
    decided({ allowed: true, limit: budget.limit, remaining: budget.limit - used, resetAtMs });
  };

  const serveBatch = async (subject: string, batch: readonly Waiting[]): Promise<void> => {
    const waiting = batch.filter((one) => !decide(subject, one));
    const [first] = waiting;
    if (first === undefined) return;
    try {
      let held = await reserve(subject, waiting, first.budget);
      let undecided = waiting.filter((one) => !decide(subject, one));
      const waitMs = Math.min(held.heldUntilMs - clock.now(), holdMs + givenBackWithinMs);
      if (undecided.length > 0 && waitMs > 0) {
        // Others hold a part that they may give back.
        await sleep(waitMs);
        held = await reserve(subject, undecided, first.budget);
        undecided = undecided.filter((one) => !decide(subject, one));
      }
      for (const { budget, decided } of undecided) decided(stateOf(held, budget, false));
      if (held.left > 0) giveBackSoon(subject);
    } catch (error) {
      for (const one of waiting) owe(subject, one, error);
    }
  };

  /** Never rejects. */
  const serve = async (subject: string, queue: Waiting[]): Promise<void> => {
    while (queue.length > 0) await serveBatch(subject, queue.splice(0));
    // In the same step as the look: who comes later begins anew.
    queues.delete(subject);
  };

  const wait = (subject: string, budget: Budget, cost: number): Promise<QuotaState> =>
    new Promise((decided, failed) => {
      const waiting = { cost, budget, decided, failed };
      const running = queues.get(subject);
      if (running !== undefined) {
        running.push(waiting);
        return;
      }
      const queue = [waiting];
      queues.set(subject, queue);
      void serve(subject, queue);
    });

  return {
    async take(subject, budget, cost = 1) {
      return takeHeld(subject, budget, cost) ?? wait(subject, budget, cost);
    },

    async putBack(subject, cost) {
      const held = reserves.get(subject);
      if (held === undefined) return;
      const { startedAtMs } = held;
      const changed = await compareAndSet(sharedState, quotaCollection, subject, (stored) =>
        stored === null || stored.startedAtMs !== startedAtMs
          ? null
          : { ...stored, used: Math.max(0, stored.used - cost) },
      ).catch(() => null);
      const now = reserves.get(subject);
      if (changed === null || now?.startedAtMs !== startedAtMs) return;
      reserves.set(subject, { ...now, used: changed.used });
    },

    async look(subject, budget) {
      const stored = (await sharedState.load(quotaCollection, [subject])).get(subject)?.value ?? null;
      if (stored === null || stored.startedAtMs + budget.windowMs <= clock.now()) return null;
      const left = openReserve(subject, budget)?.left ?? 0;
      const { startedAtMs, used, heldUntilMs = 0 } = stored;
      return stateOf({ startedAtMs, used, heldUntilMs, left, spent: 0 }, budget, used - left < budget.limit);
    },

    async close() {
      await Promise.all([...reserves.keys()].map(giveBack));
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
