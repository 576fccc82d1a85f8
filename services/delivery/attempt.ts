/**
 * One step of one delivery: an attempt where one is due, else what became of it meanwhile.
 *
 * The order that makes a kill safe at any point: `attempt.started` is durable before the first byte is sent, and
 * `attempt.ended` is written after the answer. Killed before the first: nothing happened. Killed after the last: all is
 * known. Killed in between: an attempt without an end, which a sweep finds and records as lost: as soon as its worker is known
 * to be dead, and where that cannot be known, after twice its timeout. It may have arrived, so it is sent again under the
 * same id, by which the receiver recognizes a repeat. Of a delivery that can be sent at once its request is stored together with
 * `attempt.started` (`attempt-at-once.ts`).
 */
import type { FairSlots } from '#concurrency/fair-slots';
import { channels } from '#channels/channels';
import { sleep } from '#concurrency/sleep';
import type { EventStore } from '#event-store/event-store';
import type { Leases } from '#leases/leases';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Logger } from '#runtime/logger';
import { unreachable } from '#runtime/errors';
import { countDeliveryAttempt } from '#runtime/metrics';
import { changeDelivery, changeUnlessMoved, loadDelivery, type LoadedDelivery } from './delivery-stream.js';
import { asSent } from './digest.js';
import { isLost, lostAtMs, type AttemptResult, type Delivery } from './domain/delivery.js';
import { receiptsOf } from './http-transmission.js';
import { openedBy } from './opened-thread.js';
import type { NextLook } from './queue.js';
import type { ReceiverGate } from './receiver-gate.js';
import type { Answered } from './receivers.js';
import { readinessOf, type ReadinessDeps } from './readiness.js';
import type { PreparedAttempt, Sender, SentAttempt } from './send.js';

export interface AttemptDeps {
  readonly eventStore: EventStore;
  readonly readStore: ReadinessDeps['readStore'];
  readonly isBegun: ReadinessDeps['isBegun'];
  readonly sender: Sender;
  readonly gate: Pick<ReceiverGate, 'enter' | 'enterSoon' | 'leave'>;
  /** Attempts in flight. An attempt takes its slot once its receiver admits it. */
  readonly slots: AttemptSlots;
  /** Once aborted, no attempt begins. */
  readonly stopping: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Names this process in attempts, and knows which other workers are dead. */
  readonly leases: Pick<Leases, 'memberId' | 'isLiving'>;
  /** A name for the start of an attempt that none had before, in any process. */
  readonly nameStart: () => string;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Aborts attempts in flight. */
  readonly signal: AbortSignal;
  /** The second delivery is looked at once the first has ended. */
  readonly waitFor: (id: string, waiting: string) => void;
  /** A delivery that waits for a slot need not be read again. */
  readonly keep: (waiting: LoadedDelivery) => void;
}

export type AttemptSlots = FairSlots<'organization' | 'task' | 'retries'>;

export type WaitingDelivery = LoadedDelivery & { readonly state: Extract<Delivery, { readonly status: 'waiting' }> };

const retryRecordMs = 500;

function nextLookAt(state: Delivery): number | null {
  if (state.status === 'waiting') return Date.parse(state.nextAttemptAt);
  if (state.status === 'sending') return lostAtMs(state);
  return null;
}

/** Rejects where a part of Meerkat cannot be reached. `kept`: as it was begun or last read, where that is known. */
export async function advanceDelivery(
  deps: AttemptDeps,
  id: string,
  kept: LoadedDelivery | null = null,
): Promise<NextLook> {
  const { eventStore, clock, leases, random } = deps;
  const delivery = kept ?? (await loadDelivery(eventStore, id));
  if (delivery === null) return null;
  const { state } = delivery;
  const now = clock.now();
  const at = toTimestamp(now);
  switch (state.status) {
    case 'sending': {
      const observer = { worker: leases.memberId, ownerIsDead: !leases.isLiving(state.worker) };
      if (!isLost(state, observer, now)) return lostAtMs(state);
      const attempt = state.attempts;
      const command = { type: 'loseAttempt', attempt, at, observer, random: random() } as const;
      return nextLookAt((await changeDelivery(eventStore, delivery, command, `${id}|lost|${attempt}`)).state);
    }
    case 'waiting': {
      if (Date.parse(state.request.expiresAt) <= now) {
        await changeDelivery(eventStore, delivery, { type: 'expireDelivery', at }, `${id}|expired`);
        return null;
      }
      const nextMs = Date.parse(state.nextAttemptAt);
      return nextMs > now ? nextMs : attemptWhenReady(deps, { ...delivery, state });
    }
    default:
      return null;
  }
}

/** What has to come first, or keeps it from being sent at all. */
async function attemptWhenReady(deps: AttemptDeps, delivery: WaitingDelivery): Promise<NextLook> {
  const { eventStore, clock } = deps;
  const { id } = delivery;
  const readiness = await readinessOf(deps, delivery);
  const at = toTimestamp(clock.now());
  switch (readiness.kind) {
    case 'ready':
      return attemptThroughGate(deps, delivery);
    case 'behind':
      deps.waitFor(readiness.id, id);
      return readiness.lookAtMs;
    case 'suppressed': {
      const command = { type: 'suppressDelivery', at, reason: readiness.reason } as const;
      return nextLookAt((await changeDelivery(eventStore, delivery, command, `${id}|suppressed`)).state);
    }
    case 'gathered': {
      const command = { type: 'yieldDelivery', at, by: readiness.by } as const;
      return nextLookAt((await changeDelivery(eventStore, delivery, command, `${id}|gathered`)).state);
    }
    case 'postponed': {
      const { reason, until } = readiness;
      const command = { type: 'postponeDelivery', at, reason, until } as const;
      return nextLookAt((await changeDelivery(eventStore, delivery, command, `${id}|postponed|${until}`)).state);
    }
    default:
      return unreachable(readiness);
  }
}

/** What has to wait for its receiver is not built before: it would be built once more. */
async function attemptThroughGate(deps: AttemptDeps, delivery: WaitingDelivery): Promise<NextLook> {
  const { sender, gate } = deps;
  const { request, linkBase, attempts, settled } = delivery.state;
  /** The receiver whose slot is held. */
  let held: string | null = null;
  const enter = (receiver: string): NextLook | 'entered' => {
    const entry = gate.enter(receiver, delivery.id, Date.parse(request.expiresAt));
    if (entry === 'entered') held = receiver;
    else deps.keep(delivery);
    return entry === 'waits' ? 'waiting_for_slot' : entry === 'full' ? null : entry;
  };
  const leave = (answered: Answered | null): void => {
    if (held !== null) gate.leave(held, answered);
    held = null;
  };
  try {
    const expected = sender.expectedReceiver(request.action);
    const early = expected === null ? 'entered' : enter(expected);
    if (early !== 'entered') return early;
    const opened = channels[request.action.type].usesThread ? await openedBy(deps, request) : null;
    const earlier = { opened, receipts: receiptsOf(settled), isRepeat: attempts > 0 };
    const prepared = await sender.prepare(asSent(delivery.state), linkBase, earlier);
    const { receiver } = prepared;
    if (receiver !== held) {
      leave(null);
      const entry = receiver === null ? 'entered' : enter(receiver);
      if (entry !== 'entered') return entry;
    }
    // Once it has answered, its slot is for the next one: it does not wait until the answer is durable.
    return await attemptInSlot(deps, delivery, prepared, ({ result, reached }) =>
      leave({ reached, durationMs: result.record.durationMs }),
    );
  } finally {
    leave(null);
  }
}

/** null where the process stops before there is a slot: the sweep of a later one finds the delivery. */
async function attemptInSlot(
  deps: AttemptDeps,
  delivery: WaitingDelivery,
  prepared: PreparedAttempt,
  onSent?: (sent: SentAttempt) => void,
): Promise<number | null> {
  const { attempts, request } = delivery.state;
  const keys = { organization: request.organizationId, task: request.taskId };
  const release = await deps.slots.acquire(attempts === 0 ? keys : { ...keys, retries: 'all' });
  try {
    return deps.stopping.aborted ? null : await attemptOnce(deps, delivery, prepared, onSent);
  } finally {
    release();
  }
}

/** `onStored`: called once what the delivery was before the attempt is stored too, by this worker or another one. */
export async function attemptOnce(
  deps: AttemptDeps,
  delivery: WaitingDelivery,
  prepared: PreparedAttempt,
  onSent: (sent: SentAttempt) => void = () => {},
  onStored: () => void = () => {},
): Promise<number | null> {
  const { eventStore, sender, clock, leases, signal, nameStart } = deps;
  const { id, state } = delivery;
  const { timeoutMs, summary } = prepared;
  const worker = leases.memberId;
  const attempt = state.attempts + 1;
  const start = { type: 'startAttempt', at: toTimestamp(clock.now()), timeoutMs, worker, request: summary } as const;
  const started = await changeUnlessMoved(eventStore, delivery, start, `${id}|start|${attempt}|${nameStart()}`);
  if (started === null || started.events.length > 0) onStored();
  // Another worker was first, or a message came to go out with this one: what was prepared is not what is to be sent now.
  if (started === null) return clock.now();
  if (!started.events.some(({ type }) => type === 'attempt.started')) return nextLookAt(started.state);
  const sent = await sender.send(prepared, state.settled, signal);
  onSent(sent);
  const { metadata } = delivery;
  const ended = await recordEnd(deps, { id, metadata, ...started }, attempt, sent.result, timeoutMs);
  report(deps, delivery, attempt, sent.result, ended);
  return nextLookAt(ended);
}

/** What was sent cannot be unsent: while the store is away the result is kept, until the attempt counts as lost anyway. */
async function recordEnd(
  { eventStore, clock, logger, leases, random, signal }: AttemptDeps,
  delivery: LoadedDelivery,
  attempt: number,
  result: AttemptResult,
  timeoutMs: number,
): Promise<Delivery> {
  const { id } = delivery;
  const endedMs = clock.now();
  const end = { type: 'endAttempt', attempt, at: toTimestamp(endedMs), result, random: random() } as const;
  for (;;) {
    try {
      return (await changeDelivery(eventStore, delivery, end, `${id}|end|${attempt}|${leases.memberId}`)).state;
    } catch (error) {
      if (signal.aborted || clock.now() >= endedMs + timeoutMs) throw error;
      logger.warn({ deliveryId: id, error: String(error) }, 'attempt result cannot be written; retrying');
      await sleep(retryRecordMs);
    }
  }
}

function report(
  { logger }: AttemptDeps,
  { id, state, metadata }: WaitingDelivery,
  attempt: number,
  { record }: AttemptResult,
  { status }: Delivery,
): void {
  const { action, taskId } = state.request;
  countDeliveryAttempt(action.type, status);
  logger.info(
    {
      deliveryId: id,
      taskId,
      requestId: metadata.requestId,
      attempt,
      state: status,
      reason: record.error?.reason ?? null,
      status: record.response?.status ?? null,
      durationMs: record.durationMs,
    },
    'delivery attempt ended',
  );
}
