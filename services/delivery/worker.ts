/**
 * The worker sees deliveries through, one step at a time: what is due comes from the consumer (a new one, at once), from the
 * queue's own timers (the next attempt), and from the view, which a sweep reads every 30 s and which alone is needed:
 * whatever a worker that died left open, another worker's sweep finds.
 */
import { createLru } from '#concurrency/lru';
import { createFairSlots } from '#concurrency/fair-slots';
import { withTimeoutOr } from '#concurrency/timeout';
import type { DeliveryDocument } from '#contracts/delivery';
import type { EventStore } from '#event-store/event-store';
import type { Leases, Shards } from '#leases/leases';
import { charactersOf } from '#runtime/json-size';
import type { ReadStore } from '#read-store/read-store';
import type { Clock } from '#runtime/clock';
import type { Logger } from '#runtime/logger';
import { attemptAtOnce, type AtOnce } from './attempt-at-once.js';
import { advanceDelivery, type AttemptDeps, type AttemptSlots } from './attempt.js';
import type { LoadedDelivery } from './delivery-stream.js';
import { Followers } from './followers.js';
import { DeliveryQueue, type Lane, type NextLook } from './queue.js';
import { ReceiverGate } from './receiver-gate.js';
import { defaultReceiverLimits, type ReceiverLimits } from './receivers.js';
import type { Sender } from './send.js';
import { startSweeping, type Sweep } from './sweep.js';

export interface WorkerLimits {
  /** Attempts in flight at once. */
  readonly concurrency: number;
  readonly sweepMs: number;
  /** At shutdown: how long attempts in flight may go on before they are aborted, and then to be written. */
  readonly finishMs: number;
  readonly recordMs: number;
  /** Before the next look after a part of Meerkat could not be reached. */
  readonly faultMs: number;
  readonly receivers: ReceiverLimits;
}

export const defaultWorkerLimits: WorkerLimits = {
  concurrency: 64,
  sweepMs: 30_000,
  finishMs: 18_000,
  recordMs: 3_000,
  faultMs: 5_000,
  receivers: defaultReceiverLimits,
};

export interface WorkerOptions {
  readonly eventStore: EventStore;
  readonly readStore: ReadStore;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leases: Pick<Leases, 'memberId' | 'isLiving' | 'shards'>;
  /** From 0 up to 1. */
  readonly random?: () => number;
  readonly limits?: WorkerLimits;
}

/** More than steps are in progress at once; those that wait for a slot are the most of them. */
const maxKept = { deliveries: 20_000, characters: 32_000_000 };
const maxBegun = 20_000;
const maxTracked = 100_000;
/** Steps in progress for each attempt that may be in flight: most wait for their receiver or their share. */
const stepsPerAttempt = 16;

/**
 * Receivers that hang hold a slot for as long as an attempt may take. So one organisation leaves a fifth of the slots to
 * others, one task four fifths, and repeated attempts two fifths to first ones.
 */
function attemptSlots(concurrency: number): AttemptSlots {
  const slots = concurrency + Math.ceil(concurrency / 4);
  return createFairSlots({
    slots,
    shares: { organization: concurrency, task: Math.ceil(slots / 5), retries: Math.ceil((slots * 3) / 5) },
  });
}

export class DeliveryWorker {
  readonly #options: WorkerOptions;
  readonly #limits: WorkerLimits;
  /** What the view shows of other shards is left to the workers that hold them. */
  readonly #shards: Shards;
  readonly #gate: ReceiverGate;
  readonly #queue: DeliveryQueue;
  readonly #attempts: AttemptDeps;
  readonly #followers = new Followers();
  /** As they were begun or last read, until their next step: one that has changed since is read then. */
  readonly #kept = createLru<string, LoadedDelivery>(maxKept.deliveries, {
    maxWeight: maxKept.characters,
    weightOf: ({ state }) => charactersOf(state),
  });
  /** Ids of those that were begun last: what follows one of them need not look for it. */
  readonly #begun = createLru<string, true>(maxBegun);
  readonly #abort = new AbortController();
  readonly #stopping = new AbortController();
  #sweep: Sweep | null = null;
  #starts = 0;

  constructor(options: WorkerOptions) {
    const { clock, leases, random = Math.random, limits = defaultWorkerLimits } = options;
    this.#options = options;
    this.#limits = limits;
    this.#shards = leases.shards('deliveries');
    this.#gate = new ReceiverGate({ limits: limits.receivers, clock, resume: (ids) => this.#queue.resume(ids) });
    this.#attempts = {
      ...options,
      random,
      gate: this.#gate,
      slots: attemptSlots(limits.concurrency),
      waitFor: (before, waiting) => this.#followers.add(before, waiting),
      isBegun: (id) => this.#begun.has(id),
      keep: (waiting) => this.#kept.set(waiting.id, waiting),
      stopping: this.#stopping.signal,
      signal: this.#abort.signal,
      nameStart: () => `${leases.memberId}|${(this.#starts += 1)}`,
    };
    this.#queue = new DeliveryQueue({
      clock,
      concurrency: limits.concurrency * stepsPerAttempt,
      maxTracked,
      horizonMs: 2 * limits.sweepMs,
      advance: (id) => this.#gate.withReservation(id, () => this.#advance(id)),
    });
  }

  start(): void {
    this.#sweep = startSweeping({
      ...this.#options,
      sweepMs: this.#limits.sweepMs,
      before: () => this.#gate.releaseExpired(),
      found: (id, document) => this.notice(id, document, 'backlog'),
      isFull: () => this.#queue.isFull,
    });
  }

  /** Stores one that is new with the start of its first attempt, where it can be sent right now. False: nothing was written. */
  async beginAtOnce(fresh: LoadedDelivery): Promise<boolean> {
    const stored = Promise.withResolvers<boolean>();
    let isLate = false;
    const onLate = (): void => {
      isLate = true;
      stored.resolve(false);
    };
    const ended = this.#queue.runNow(fresh.id, async () => {
      const next = await this.#attemptAtOnce(fresh, { onLate, onStored: () => stored.resolve(true) });
      // Stored alone meanwhile, and offered while it was in progress here.
      return next === 'not_now' ? (isLate ? this.#options.clock.now() : null) : next;
    });
    return ended !== null && Promise.race([stored.promise, ended.then(() => false)]);
  }

  /** For a delivery that was just begun: it need not be read again. */
  begin(delivery: LoadedDelivery, dueMs: number): void {
    this.#begun.set(delivery.id, true);
    this.#kept.set(delivery.id, delivery);
    this.offer(delivery.id, dueMs);
  }

  /** For a delivery that is due then. Cheap, and harmless where it is wrong or comes twice. */
  offer(id: string, dueMs: number): void {
    this.#queue.offer(id, dueMs);
  }

  /** For a delivery as the view shows it. An open attempt that is not in progress here is looked at now: its worker may be dead. */
  notice(id: string, { state, dueAt }: Pick<DeliveryDocument, 'state' | 'dueAt'>, lane: Lane = 'now'): void {
    if (dueAt === null || !this.#shards.holds(id)) return;
    const waiting = this.#kept.get(id)?.state;
    // A person who has it sent again after mending its address does not wait for the old one.
    if (waiting?.status === 'waiting' && waiting.nextAttemptAt !== dueAt && state !== 'sending') {
      this.#kept.delete(id);
      this.#gate.letGo(id);
    }
    this.#queue.offer(id, state === 'sending' ? this.#options.clock.now() : Date.parse(dueAt), lane);
  }

  /** Takes nothing new, lets attempts in flight end, and writes their results. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#gate.stop();
    const { finishMs, recordMs } = this.#limits;
    const idle = Promise.all([this.#sweep?.stop(), this.#queue.stop()]);
    if ((await withTimeoutOr(idle, finishMs, null)) !== null) return;
    this.#abort.abort();
    await withTimeoutOr(idle, recordMs, null);
  }

  async #attemptAtOnce(fresh: LoadedDelivery, { onLate, onStored }: AtOnce): Promise<NextLook | 'not_now'> {
    const { clock, logger } = this.#options;
    let isStored = false;
    try {
      const next = await attemptAtOnce(this.#attempts, fresh, {
        onLate,
        onStored: () => {
          isStored = true;
          this.#begun.set(fresh.id, true);
          onStored();
        },
      });
      if (next !== 'not_now') this.#resumeFollowers(fresh.id, next);
      return next;
    } catch (error) {
      // What is not stored is stored alone next, or its request comes again.
      if (!isStored) return 'not_now';
      logger.error({ deliveryId: fresh.id, error: String(error) }, 'delivery step failed; retrying soon');
      return clock.now() + this.#limits.faultMs;
    }
  }

  #resumeFollowers(id: string, next: NextLook): void {
    if (next !== null) return;
    for (const waiting of this.#followers.take(id)) this.offer(waiting, this.#options.clock.now());
  }

  async #advance(id: string): Promise<NextLook> {
    const { clock, logger } = this.#options;
    try {
      const kept = this.#kept.get(id) ?? null;
      this.#kept.delete(id);
      const next = await advanceDelivery(this.#attempts, id, kept);
      this.#resumeFollowers(id, next);
      return next;
    } catch (error) {
      logger.error({ deliveryId: id, error: String(error) }, 'delivery step failed; retrying soon');
      return clock.now() + this.#limits.faultMs;
    }
  }
}
