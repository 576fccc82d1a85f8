/** A delivery: one notification on its way to one receiver. Attempts, retries, expiry and what a crash leaves unknown. */
import type {
  AttemptResult,
  DeliveryEvent,
  NotificationRequest,
  RequestSummary,
  SettledPart,
} from '#contracts/delivery';
import type { Decider } from '#event-store/decider';
import { reject, unreachable } from '#runtime/errors';

interface Known {
  readonly request: NotificationRequest;
  /** What links begin with on every try; null in deliveries of before it was kept. */
  readonly linkBase: string | null;
  /** How many attempts were started. */
  readonly attempts: number;
  readonly settled: readonly SettledPart[];
}

/** An attempt that was started and has no end yet. */
export interface OpenAttempt {
  readonly startedAt: string;
  readonly timeoutMs: number;
  /** Whoever started it: a name that no later process has. */
  readonly worker: string;
}

/** Who looks at an open attempt. `workerIsGone`: nobody is at it any more, as far as that can be known. */
export interface Onlooker {
  readonly worker: string;
  readonly workerIsGone: boolean;
}

/** `waiting`: for its first or next try. `held`: nobody knows whether the last try arrived, and a person has to say. */
export type Delivery =
  | { readonly status: 'none' }
  | (Known & { readonly status: 'waiting'; readonly nextAttemptAt: string })
  | (Known & { readonly status: 'sending' } & OpenAttempt)
  | (Known & { readonly status: 'held' })
  | (Known & { readonly status: 'delivered' })
  | (Known & { readonly status: 'failed' | 'expired'; readonly reason: string });

/** What an attempt came to, over all its parts. */
export type AttemptOutcome =
  | { readonly kind: 'delivered' }
  /** `retryAfterMs`: what the receiver asked for. */
  | { readonly kind: 'retry'; readonly reason: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'refused'; readonly reason: string };

/** What happens to a delivery whose attempt has no end: tried again under the same id, or kept for a person. */
export type LostPolicy = 'retry' | 'hold';

/** `random` is from 0 up to 1: chance comes in with the command, so that deciding again gives the same. */
export type DeliveryCommand =
  | { readonly type: 'requestDelivery'; readonly request: NotificationRequest; readonly linkBase: string }
  | {
      readonly type: 'startAttempt';
      readonly at: string;
      readonly timeoutMs: number;
      readonly worker: string;
      readonly request: RequestSummary;
    }
  | {
      readonly type: 'endAttempt';
      readonly attempt: number;
      readonly at: string;
      readonly result: AttemptResult;
      readonly settled: readonly SettledPart[];
      readonly outcome: AttemptOutcome;
      readonly random: number;
    }
  | {
      readonly type: 'loseAttempt';
      readonly attempt: number;
      readonly at: string;
      readonly onlooker: Onlooker;
      readonly policy: LostPolicy;
      readonly random: number;
    }
  | { readonly type: 'expireDelivery'; readonly at: string };

export type { DeliveryEvent };

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** How long to wait before each try, counted from the end of the one before; the last entry repeats. */
export const retryDelaysMs: readonly number[] = [
  0,
  5 * secondMs,
  30 * secondMs,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  hourMs,
  3 * hourMs,
  6 * hourMs,
  12 * hourMs,
];

/** Jitter only ever adds, so that nobody is tried sooner than the schedule says. */
const jitter = 0.2;

/** Where its worker may still live, an attempt without an end counts as lost after this many times its own timeout. */
const lostAfterTimeouts = 2;

/** When an open attempt counts as lost for whoever looks at it, milliseconds since 1970. */
export function lostAtMs({ startedAt, timeoutMs }: Omit<OpenAttempt, 'worker'>): number {
  return Date.parse(startedAt) + lostAfterTimeouts * timeoutMs;
}

/** Whether nobody is at an open attempt any more: known at once of a worker that is gone, else by time. */
export function isLost(open: OpenAttempt, { worker, workerIsGone }: Onlooker, nowMs: number): boolean {
  return (workerIsGone && open.worker !== worker) || nowMs >= lostAtMs(open);
}

/** When the try after `attempts` tries is due. What the receiver asks for counts where it asks for more. */
function nextAttemptMs(attempts: number, endedAt: string, random: number, retryAfterMs: number | null): number {
  const delayMs = retryDelaysMs[Math.min(attempts, retryDelaysMs.length - 1)] ?? 0;
  const jitteredMs = Math.round(delayMs * (1 + jitter * random));
  return Date.parse(endedAt) + Math.max(jitteredMs, retryAfterMs ?? 0);
}

function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

function hasExpired(request: NotificationRequest, at: string): boolean {
  return Date.parse(at) >= Date.parse(request.expiresAt);
}

export const initial: Delivery = { status: 'none' };

export function evolve(state: Delivery, event: DeliveryEvent): Delivery {
  if (event.type === 'delivery.requested') {
    const { request, linkBase = null } = event.data;
    return { status: 'waiting', request, linkBase, attempts: 0, settled: [], nextAttemptAt: request.createdAt };
  }
  // Every stream begins with the request; anything else before it would be a defect and changes nothing.
  if (state.status === 'none') return state;
  const { request, linkBase, attempts, settled } = state;
  const known = { request, linkBase, attempts, settled };
  switch (event.type) {
    case 'attempt.started': {
      const { attempt, at, timeoutMs, worker } = event.data;
      return { ...known, status: 'sending', attempts: attempt, startedAt: at, timeoutMs, worker };
    }
    case 'attempt.ended': {
      const { next } = event.data;
      const after = { ...known, settled: [...settled, ...event.data.settled] };
      switch (next.state) {
        case 'delivered':
          return { ...after, status: 'delivered' };
        case 'retrying':
          return { ...after, status: 'waiting', nextAttemptAt: next.nextAttemptAt };
        case 'failed':
        case 'expired':
          return { ...after, status: next.state, reason: next.reason };
        default:
          return unreachable(next);
      }
    }
    case 'attempt.lost': {
      const { next } = event.data;
      return next.policy === 'hold'
        ? { ...known, status: 'held' }
        : { ...known, status: 'waiting', nextAttemptAt: next.nextAttemptAt };
    }
    case 'delivery.expired':
      return { ...known, status: 'expired', reason: 'expired' };
    default:
      return unreachable(event);
  }
}

type EndAttempt = Extract<DeliveryCommand, { type: 'endAttempt' }>;

/** A try that would come after the expiry will never be made: the delivery has expired now, for the reason it failed by. */
function nextOf({ request }: Known, { attempt, at, outcome, random }: EndAttempt) {
  switch (outcome.kind) {
    case 'delivered':
      return { state: 'delivered' } as const;
    case 'refused':
      return { state: 'failed', reason: outcome.reason } as const;
    case 'retry': {
      const dueMs = nextAttemptMs(attempt, at, random, outcome.retryAfterMs);
      return dueMs >= Date.parse(request.expiresAt)
        ? ({ state: 'expired', reason: outcome.reason } as const)
        : ({ state: 'retrying', nextAttemptAt: timestamp(dueMs) } as const);
    }
    default:
      return unreachable(outcome);
  }
}

/** An answer that comes after its attempt was given up still counts while no other try has begun: it says that it arrived. */
function counts(state: Exclude<Delivery, { status: 'none' }>, { attempt, outcome }: EndAttempt): boolean {
  if (state.attempts !== attempt) return false;
  if (state.status === 'sending') return true;
  return (state.status === 'waiting' || state.status === 'held') && outcome.kind === 'delivered';
}

/** Final: nothing that comes later changes it. */
function isEnded(state: Delivery): boolean {
  return state.status === 'delivered' || state.status === 'failed' || state.status === 'expired';
}

export function decide(command: DeliveryCommand, state: Delivery): readonly DeliveryEvent[] {
  if (command.type === 'requestDelivery') {
    const { request, linkBase } = command;
    return state.status === 'none' ? [{ type: 'delivery.requested', data: { request, linkBase } }] : [];
  }
  if (state.status === 'none') throw reject('delivery_unknown', 'There is no such delivery.');
  if (isEnded(state)) return [];
  switch (command.type) {
    case 'startAttempt': {
      // Somebody else is at it, it is held, or it is too early: the caller sees by the missing event that it may not send.
      if (state.status !== 'waiting' || Date.parse(command.at) < Date.parse(state.nextAttemptAt)) return [];
      const { at, timeoutMs, worker, request } = command;
      if (hasExpired(state.request, at)) return [{ type: 'delivery.expired', data: { at } }];
      return [{ type: 'attempt.started', data: { attempt: state.attempts + 1, at, timeoutMs, worker, request } }];
    }
    case 'endAttempt': {
      if (!counts(state, command)) return [];
      const { attempt, at, result } = command;
      const settled = command.settled.filter(({ part }) => !state.settled.some((earlier) => earlier.part === part));
      return [{ type: 'attempt.ended', data: { attempt, at, result, settled, next: nextOf(state, command) } }];
    }
    case 'loseAttempt': {
      const { attempt, at, onlooker, policy, random } = command;
      if (state.status !== 'sending' || state.attempts !== attempt) return [];
      if (!isLost(state, onlooker, Date.parse(at))) return [];
      const next =
        policy === 'hold'
          ? ({ policy } as const)
          : ({ policy, nextAttemptAt: timestamp(nextAttemptMs(attempt, at, random, null)) } as const);
      return [{ type: 'attempt.lost', data: { attempt, at, next } }];
    }
    case 'expireDelivery':
      if (state.status !== 'waiting' || !hasExpired(state.request, command.at)) return [];
      return [{ type: 'delivery.expired', data: { at: command.at } }];
    default:
      return unreachable(command);
  }
}

export const delivery: Decider<Delivery, DeliveryCommand, DeliveryEvent> = { initial, evolve, decide };
