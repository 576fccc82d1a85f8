/** A delivery: one notification on its way to one receiver. Attempts, retries, expiry and what a crash leaves unknown. */
import type { StoredAction } from '#contracts/action';
import type {
  AttemptRecord,
  DeliveryEvent,
  NotificationRequest,
  RequestSummary,
  SettledPart,
} from '#contracts/delivery';
import type { Decider } from '#eventing/decider';
import { reject, unreachable } from '#runtime/errors';
import { jsonEquals } from '#runtime/json';

interface DeliveryFacts {
  readonly request: NotificationRequest;
  /** What links begin with on every attempt; null in deliveries of before it was kept. */
  readonly linkBase: string | null;
  /** How many attempts were started. */
  readonly attempts: number;
  readonly settled: readonly SettledPart[];
  /** A person has it sent: nothing else is asked. */
  readonly isWanted: boolean;
  /** How many of the attempts were before that: retries are spaced from there. */
  readonly attemptsBefore: number;
  /** Messages that go out with this one, as they came. */
  readonly gathered: readonly NotificationRequest[];
}

/** An attempt that was started and has no end yet. */
export interface OpenAttempt {
  readonly startedAt: string;
  readonly timeoutMs: number;
  /** The process that started it, by a name that no later process has. */
  readonly worker: string;
}

/** The worker that looks at an open attempt. `ownerIsDead`: the worker that started it has ended, as far as can be known. */
export interface Observer {
  readonly worker: string;
  readonly ownerIsDead: boolean;
}

/** `waiting`: for its first or next attempt. */
export type Delivery =
  | { readonly status: 'none' }
  /** Of a folded day: its request is gone, and nothing of it happens any more. */
  | { readonly status: 'folded' }
  | (DeliveryFacts & { readonly status: 'waiting'; readonly nextAttemptAt: string })
  | (DeliveryFacts & { readonly status: 'sending' } & OpenAttempt)
  | (DeliveryFacts & { readonly status: 'delivered' })
  | (DeliveryFacts & { readonly status: 'failed' | 'expired'; readonly reason: string })
  /** `by`: what says its content instead. */
  | (DeliveryFacts & { readonly status: 'suppressed'; readonly reason: string; readonly by: string | null })
  /** Nobody knows whether the last attempt arrived, and a person has to say what to do. */
  | (DeliveryFacts & { readonly status: 'unknown' });

/** One whose request is there. */
export type KnownDelivery = Exclude<Delivery, { readonly status: 'none' | 'folded' }>;

/** Over all parts of an attempt. `retryAfterMs`: what the receiver asked for. */
export type AttemptResultKind =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly reason: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'refused'; readonly reason: string };

/** The result of an attempt, what is kept of it, and which parts it settled. */
export type AttemptResult = AttemptResultKind & {
  readonly record: AttemptRecord;
  readonly settled: readonly SettledPart[];
};

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
      readonly random: number;
    }
  | {
      readonly type: 'loseAttempt';
      readonly attempt: number;
      readonly at: string;
      readonly observer: Observer;
      readonly random: number;
    }
  | { readonly type: 'expireDelivery'; readonly at: string }
  | {
      readonly type: 'suppressDelivery';
      readonly at: string;
      readonly reason: string;
    }
  | { readonly type: 'postponeDelivery'; readonly at: string; readonly reason: string; readonly until: string }
  /** Hands this delivery's content to the one that gathers it. */
  | { readonly type: 'yieldDelivery'; readonly at: string; readonly by: string }
  | { readonly type: 'gatherMessage'; readonly at: string; readonly request: NotificationRequest }
  | {
      readonly type: 'resendDelivery';
      readonly at: string;
      readonly expiresAt: string;
      readonly action: StoredAction;
    };

export type { DeliveryEvent };

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** How long to wait before each attempt, counted from the end of the one before; the last entry repeats. */
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

/** Jitter only ever adds, so that no receiver is tried sooner than the schedule says. */
const jitter = 0.2;

/** Where its worker may still live, an attempt without an end counts as lost after this many times its own timeout. */
const lostAfterTimeouts = 2;

/** When an open attempt counts as lost for every observer, milliseconds since 1970. */
export function lostAtMs({ startedAt, timeoutMs }: Omit<OpenAttempt, 'worker'>): number {
  return Date.parse(startedAt) + lostAfterTimeouts * timeoutMs;
}

/** Whether an open attempt will never end: known at once where its worker is dead, else by time. */
export function isLost(open: OpenAttempt, { worker, ownerIsDead }: Observer, nowMs: number): boolean {
  return (ownerIsDead && open.worker !== worker) || nowMs >= lostAtMs(open);
}

/** When the next attempt after that many is due. What the receiver asks for counts where it asks for more. */
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
    const { request, linkBase } = event.data;
    const nextAttemptAt = request.heldUntil ?? request.createdAt;
    const facts = { request, linkBase, attempts: 0, settled: [], isWanted: false, attemptsBefore: 0, gathered: [] };
    return { ...facts, status: 'waiting', nextAttemptAt };
  }
  // Every stream begins with the request, until that was folded.
  if (state.status === 'none' || state.status === 'folded') return { status: 'folded' };
  const { request, linkBase, attempts, settled, isWanted, attemptsBefore, gathered } = state;
  const facts = { request, linkBase, attempts, settled, isWanted, attemptsBefore, gathered };
  switch (event.type) {
    case 'attempt.started': {
      const { attempt, at, timeoutMs, worker } = event.data;
      return { ...facts, status: 'sending', attempts: attempt, startedAt: at, timeoutMs, worker };
    }
    case 'attempt.ended': {
      const { next } = event.data;
      const after = { ...facts, settled: [...settled, ...event.data.settled] };
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
        ? { ...facts, status: 'unknown' }
        : { ...facts, status: 'waiting', nextAttemptAt: next.nextAttemptAt };
    }
    case 'delivery.expired':
      return { ...facts, status: 'expired', reason: 'expired' };
    case 'delivery.suppressed':
      return { ...facts, status: 'suppressed', reason: event.data.reason, by: event.data.by ?? null };
    case 'delivery.postponed':
      return { ...facts, status: 'waiting', nextAttemptAt: event.data.until };
    case 'delivery.gathered':
      return { ...state, gathered: [...gathered, event.data.request] };
    case 'delivery.resent': {
      const { at, expiresAt, action } = event.data;
      // What arrived is sent again only where all of it did.
      const kept = state.status === 'delivered' ? [] : settled.filter(({ refused }) => refused === null);
      const asNow = { request: { ...request, action, expiresAt }, settled: kept };
      return { ...facts, ...asNow, isWanted: true, attemptsBefore: attempts, status: 'waiting', nextAttemptAt: at };
    }
    default:
      return unreachable(event);
  }
}

type EndAttempt = Extract<DeliveryCommand, { type: 'endAttempt' }>;

/** An attempt that would come after the expiry will never be made: the delivery has expired now, for the reason it failed by. */
function nextOf({ request, attemptsBefore }: DeliveryFacts, { attempt, at, result, random }: EndAttempt) {
  switch (result.kind) {
    case 'delivered':
      return { state: 'delivered' } as const;
    case 'refused':
      return { state: 'failed', reason: result.reason } as const;
    case 'retry': {
      const dueMs = nextAttemptMs(attempt - attemptsBefore, at, random, result.retryAfterMs);
      return dueMs >= Date.parse(request.expiresAt)
        ? ({ state: 'expired', reason: result.reason } as const)
        : ({ state: 'retrying', nextAttemptAt: timestamp(dueMs) } as const);
    }
    default:
      return unreachable(result);
  }
}

/** A result that comes after its attempt was recorded as lost still counts while no other attempt has begun and it says delivered. */
function counts(state: KnownDelivery, { attempt, result }: EndAttempt): boolean {
  if (state.attempts !== attempt) return false;
  if (state.status === 'sending') return true;
  return (state.status === 'waiting' || state.status === 'unknown') && result.kind === 'delivered';
}

const endings: ReadonlySet<Delivery['status']> = new Set(['delivered', 'failed', 'expired', 'suppressed', 'folded']);

/** null: of a delivery that is not there, or of which no more than its end is. */
export function known(state: Delivery): KnownDelivery | null {
  return state.status === 'none' || state.status === 'folded' ? null : state;
}

/** Final: nothing changes it but a person who has it sent again. */
export function isEnded({ status }: Delivery): boolean {
  return endings.has(status);
}

/** Nothing of it was sent, and nothing is being sent. */
function isUntouched(state: Delivery): boolean {
  return state.status === 'waiting' && state.attempts === 0;
}

type Resend = Extract<DeliveryCommand, { readonly type: 'resendDelivery' }>;

/** What is on its way already is left alone. */
function resent(state: KnownDelivery, { at, expiresAt, action }: Resend): DeliveryEvent[] {
  if (state.status === 'sending') return [];
  const isDue = state.status === 'waiting' && state.nextAttemptAt <= at;
  if (isDue && jsonEquals(state.request.action, action)) return [];
  return [{ type: 'delivery.resent', data: { at, expiresAt, action } }];
}

export function decide(command: DeliveryCommand, state: Delivery): readonly DeliveryEvent[] {
  if (command.type === 'requestDelivery') {
    const { request, linkBase } = command;
    return state.status === 'none' ? [{ type: 'delivery.requested', data: { request, linkBase } }] : [];
  }
  if (state.status === 'none') throw reject('delivery_unknown', 'There is no such delivery.');
  if (state.status === 'folded') {
    if (command.type !== 'resendDelivery') return [];
    throw reject('delivery_folded', 'This delivery is of a folded day: what it said is gone.');
  }
  if (command.type === 'resendDelivery') return resent(state, command);
  if (isEnded(state)) return [];
  switch (command.type) {
    case 'startAttempt': {
      // Another worker is sending it, or it is too early: the caller sees by the missing event that it may not send.
      if (state.status !== 'waiting' || Date.parse(command.at) < Date.parse(state.nextAttemptAt)) return [];
      const { at, timeoutMs, worker, request } = command;
      if (hasExpired(state.request, at)) return [{ type: 'delivery.expired', data: { at } }];
      return [{ type: 'attempt.started', data: { attempt: state.attempts + 1, at, timeoutMs, worker, request } }];
    }
    case 'endAttempt': {
      if (!counts(state, command)) return [];
      const { attempt, at, result } = command;
      const settled = result.settled.filter(({ part }) => !state.settled.some((earlier) => earlier.part === part));
      const next = nextOf(state, command);
      return [{ type: 'attempt.ended', data: { attempt, at, result: result.record, settled, next } }];
    }
    case 'loseAttempt': {
      const { attempt, at, observer, random } = command;
      if (state.status !== 'sending' || state.attempts !== attempt) return [];
      if (!isLost(state, observer, Date.parse(at))) return [];
      if (state.request.action.retryUnknown === false) {
        return [{ type: 'attempt.lost', data: { attempt, at, next: { policy: 'hold' } } }];
      }
      const nextAttemptAt = timestamp(nextAttemptMs(attempt - state.attemptsBefore, at, random, null));
      return [{ type: 'attempt.lost', data: { attempt, at, next: { policy: 'retry', nextAttemptAt } } }];
    }
    case 'expireDelivery':
      if (state.status !== 'waiting' || !hasExpired(state.request, command.at)) return [];
      return [{ type: 'delivery.expired', data: { at: command.at } }];
    case 'suppressDelivery': {
      const { at, reason } = command;
      return isUntouched(state) ? [{ type: 'delivery.suppressed', data: { at, reason } }] : [];
    }
    case 'yieldDelivery': {
      const { at, by } = command;
      return isUntouched(state) ? [{ type: 'delivery.suppressed', data: { at, reason: 'in_digest', by } }] : [];
    }
    case 'postponeDelivery': {
      const { at, reason, until } = command;
      return isUntouched(state) && until > at ? [{ type: 'delivery.postponed', data: { at, reason, until } }] : [];
    }
    case 'gatherMessage': {
      const { at, request } = command;
      const isKnown = state.gathered.some(({ deliveryId }) => deliveryId === request.deliveryId);
      if (isKnown || !isUntouched(state)) return [];
      return [{ type: 'delivery.gathered', data: { at, request } }];
    }
    default:
      return unreachable(command);
  }
}

export const deliveryDecider: Decider<Delivery, DeliveryCommand, DeliveryEvent> = { initial, evolve, decide };
