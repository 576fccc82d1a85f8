/**
 * The worker: picks what is due and sees each delivery through one step at a time.
 *
 * What is due is told by three: the inbox (a new one, at once), the worker itself (its own next try), and the view, which
 * a sweep reads every 30 s and which alone is needed: whoever dies, another sweep finds what it left. The view may lag; what
 * a delivery really is, its stream says, which is read before anything is done.
 *
 * The order that makes a kill safe at any point: `attempt.started` is durable before the first byte is sent, and
 * `attempt.ended` is written after the answer. Killed before the first: nothing happened. Killed after the last: all is
 * known. Killed in between: an attempt without an end, which a sweep finds and records as lost: as soon as its worker is known
 * to be gone, and where that cannot be known, after twice its timeout. It may have arrived, so it is sent again under the
 * same id, by which the receiver can tell.
 */
import { deliveriesView } from '#contracts/delivery';
import { decodeEvent } from '#event-store/codec';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import { runCommand, type CommandOutcome } from '#event-store/run-command';
import type { Leases, Shards } from '#leases/leases';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { JsonObject } from '#runtime/json';
import type { Logger } from '#runtime/logger';
import { countDeliveryAttempt } from '#runtime/metrics';
import {
  delivery,
  isLost,
  lostAtMs,
  type Delivery,
  type DeliveryCommand,
  type DeliveryEvent,
  type LostPolicy,
} from './domain/delivery.js';
import { defaultReceiverLimits, Receivers, type ReceiverLimits } from './receivers.js';
import type { PreparedAttempt, Sender, SentAttempt } from './send.js';

export interface WorkerLimits {
  /** Deliveries in hand at once. */
  readonly concurrency: number;
  readonly sweepMs: number;
  /** At shutdown: how long attempts in flight may go on before they are broken off, and then to be written down. */
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
  /** Names this process in attempts, and knows which other workers are gone. */
  readonly leases: Pick<Leases, 'memberId' | 'isLiving' | 'shards'>;
  /** From 0 up to 1. */
  readonly random?: () => number;
  /** What happens to a delivery whose attempt was lost. */
  readonly lostPolicy?: LostPolicy;
  readonly limits?: WorkerLimits;
}

/** Deliveries kept in mind at once; what is beyond stays in the view until a later sweep. */
const remembered = 50_000;
const pageSize = 500;
const recordAgainMs = 500;
/** Behind every stored time. */
const endOfTime = '9999-12-31T23:59:59.999Z';

export function streamOf(deliveryId: string): string {
  return `dlv-${deliveryId}`;
}

interface Loaded {
  readonly state: Exclude<Delivery, { status: 'none' }>;
  readonly metadata: EventMetadata;
}

export class DeliveryWorker {
  readonly #options: WorkerOptions;
  /** What a sweep and the view tell of other shards is left to the worker that holds them. */
  readonly #shards: Shards;
  readonly #limits: WorkerLimits;
  readonly #receivers: Receivers;
  readonly #breakOff = new AbortController();
  /** In hand: to be looked at, looked at, or waiting for its receiver. */
  readonly #known = new Set<string>();
  readonly #ready: string[] = [];
  readonly #running = new Set<Promise<void>>();
  /** Due later, each with its timer; no more than two sweeps ahead. */
  readonly #later = new Map<string, { readonly dueMs: number; readonly timer: NodeJS.Timeout }>();
  /** Waiting for a receiver, with the time by which that has no point any more. */
  readonly #parked = new Map<string, { readonly receiver: string; readonly expiresMs: number }>();
  /** Released by their receiver, which keeps a place for them. */
  readonly #promised = new Map<string, string>();
  readonly #probes = new Map<string, NodeJS.Timeout>();
  #sweeping: Promise<void> = Promise.resolve();
  #sweepTimer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#shards = options.leases.shards('deliveries');
    this.#limits = options.limits ?? defaultWorkerLimits;
    this.#receivers = new Receivers(
      this.#limits.receivers,
      (ids) => this.#released(ids),
      (key, atMs) => this.#probeAt(key, atMs),
    );
  }

  start(): void {
    // What a process before this one left open may be due long after the horizon of a sweep.
    this.#sweep(Infinity);
  }

  /** Tells of a delivery that is due then. Cheap, and harmless where it is wrong or comes twice. */
  offer(id: string, dueMs: number): void {
    if (this.#stopped || this.#known.has(id)) return;
    const waitMs = dueMs - this.#options.clock.now();
    const later = this.#later.get(id);
    if (later !== undefined) {
      // Timers run by another clock: what is due by ours does not wait for them.
      if (waitMs > 0 && later.dueMs <= dueMs) return;
      clearTimeout(later.timer);
      this.#later.delete(id);
    }
    if (this.#known.size + this.#later.size >= remembered || waitMs > 2 * this.#limits.sweepMs) return;
    if (waitMs <= 0) {
      this.#known.add(id);
      this.#ready.push(id);
      this.#pump();
      return;
    }
    const timer = setTimeout(() => {
      this.#later.delete(id);
      this.offer(id, dueMs);
    }, waitMs);
    this.#later.set(id, { dueMs, timer });
  }

  /** Tells of a delivery of ours as the view shows it. At an open attempt that is not in hand here it looks at once: its worker may be gone. */
  notice(id: string, { state, dueAt }: JsonObject): void {
    if (typeof dueAt !== 'string' || !this.#shards.holds(id)) return;
    this.offer(id, state === 'sending' ? this.#options.clock.now() : Date.parse(dueAt));
  }

  /** Takes nothing new, lets what is in flight end, and writes it down. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#sweepTimer !== null) clearTimeout(this.#sweepTimer);
    for (const { timer } of this.#later.values()) clearTimeout(timer);
    for (const timer of this.#probes.values()) clearTimeout(timer);
    this.#ready.length = 0;
    const idle = this.#idle();
    if (!(await within(idle, this.#limits.finishMs))) {
      this.#breakOff.abort();
      await within(idle, this.#limits.recordMs);
    }
  }

  async #idle(): Promise<void> {
    await this.#sweeping;
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  #pump(): void {
    while (!this.#stopped && this.#running.size < this.#limits.concurrency) {
      const id = this.#ready.shift();
      if (id === undefined) return;
      const running: Promise<void> = this.#handle(id).finally(() => {
        this.#running.delete(running);
        this.#pump();
      });
      this.#running.add(running);
    }
  }

  /** One step of one delivery, and when to look again. */
  async #handle(id: string): Promise<void> {
    const receiver = this.#promised.get(id);
    this.#promised.delete(id);
    let dueMs: number | null | 'parked';
    try {
      dueMs = await this.#step(id);
    } catch (error) {
      this.#options.logger.error(
        { deliveryId: id, error: String(error) },
        'a delivery cannot go on; trying again soon',
      );
      dueMs = this.#options.clock.now() + this.#limits.faultMs;
    }
    if (receiver !== undefined) this.#receivers.withdraw(receiver, id);
    if (dueMs === 'parked') return;
    this.#known.delete(id);
    if (dueMs !== null) this.offer(id, dueMs);
  }

  /** When it is due again; null where it is finished or held; `parked` where it waits for its receiver. */
  async #step(id: string): Promise<number | null | 'parked'> {
    const { clock, lostPolicy = 'retry', leases } = this.#options;
    const loaded = await this.#load(id);
    if (loaded === null) return null;
    const { state } = loaded;
    const now = clock.now();
    const at = toTimestamp(now);
    switch (state.status) {
      case 'sending': {
        const onlooker = { worker: leases.memberId, workerIsGone: !leases.isLiving(state.worker) };
        if (!isLost(state, onlooker, now)) return lostAtMs(state);
        const attempt = state.attempts;
        const command = {
          type: 'loseAttempt',
          attempt,
          at,
          onlooker,
          policy: lostPolicy,
          random: this.#random(),
        } as const;
        return dueOf((await this.#run(id, loaded, command, `${id}|lost|${attempt}`)).state);
      }
      case 'waiting': {
        if (Date.parse(state.request.expiresAt) <= now) {
          await this.#run(id, loaded, { type: 'expireDelivery', at }, `${id}|expired`);
          return null;
        }
        const nextMs = Date.parse(state.nextAttemptAt);
        return nextMs > now ? nextMs : this.#attempt(id, loaded);
      }
      default:
        return null;
    }
  }

  async #attempt(id: string, loaded: Loaded): Promise<number | null | 'parked'> {
    const { clock, sender } = this.#options;
    const { request, linkBase } = loaded.state;
    const prepared = await sender.prepare(request, linkBase);
    const { receiver } = prepared;
    if (receiver === null) return this.#tryOnce(id, loaded, prepared);
    if (!this.#receivers.enter(receiver, id, clock.now())) {
      this.#parked.set(id, { receiver, expiresMs: Date.parse(request.expiresAt) });
      return 'parked';
    }
    let reached: boolean | null = null;
    try {
      return await this.#tryOnce(id, loaded, prepared, (sent) => {
        reached = sent.reached;
      });
    } finally {
      this.#receivers.leave(receiver, reached, clock.now());
    }
  }

  async #tryOnce(
    id: string,
    loaded: Loaded,
    prepared: PreparedAttempt,
    learn: (sent: SentAttempt) => void = () => {},
  ): Promise<number | null> {
    const { clock, sender, logger } = this.#options;
    const name = this.#options.leases.memberId;
    const { timeoutMs, summary } = prepared;
    const number = loaded.state.attempts + 1;
    const start = {
      type: 'startAttempt',
      at: toTimestamp(clock.now()),
      timeoutMs,
      worker: name,
      request: summary,
    } as const;
    const begun = await this.#run(id, loaded, start, `${id}|start|${number}|${name}`);
    // No event: another worker was first, and the fence held. Only the one whose event was written may send.
    if (!begun.events.some(({ type }) => type === 'attempt.started')) return dueOf(begun.state);
    const { request, settled } = loaded.state;
    const sent = await sender.send(prepared, request, settled, this.#breakOff.signal);
    learn(sent);
    const { result, outcome } = sent;
    const end = {
      type: 'endAttempt',
      attempt: number,
      at: toTimestamp(clock.now()),
      result,
      settled: sent.settled,
      outcome,
      random: this.#random(),
    } as const;
    const ended = await this.#record(id, loaded, end, `${id}|end|${number}|${name}`, timeoutMs);
    countDeliveryAttempt(request.action.type, ended.state.status);
    logger.info(
      {
        deliveryId: id,
        taskId: request.taskId,
        requestId: loaded.metadata.requestId,
        attempt: number,
        state: ended.state.status,
        reason: result.error?.reason ?? null,
        status: result.response?.status ?? null,
        durationMs: result.durationMs,
      },
      'delivery attempt ended',
    );
    return dueOf(ended.state);
  }

  /** What was sent cannot be unsent: while the store is away the answer is kept, until the attempt counts as lost anyway. */
  async #record(
    id: string,
    loaded: Loaded,
    end: Extract<DeliveryCommand, { type: 'endAttempt' }>,
    commandId: string,
    timeoutMs: number,
  ): Promise<CommandOutcome<Delivery, DeliveryEvent>> {
    const { clock, logger } = this.#options;
    const untilMs = clock.now() + timeoutMs;
    for (;;) {
      try {
        return await this.#run(id, loaded, end, commandId);
      } catch (error) {
        if (this.#breakOff.signal.aborted || clock.now() >= untilMs) throw error;
        logger.warn({ deliveryId: id, error: String(error) }, 'an answer cannot be written down; trying again');
        await new Promise((resolve) => setTimeout(resolve, recordAgainMs));
      }
    }
  }

  async #load(id: string): Promise<Loaded | null> {
    let state: Delivery = delivery.initial;
    let metadata: EventMetadata | null = null;
    for await (const event of this.#options.eventStore.read(streamOf(id))) {
      metadata ??= event.metadata;
      state = delivery.evolve(state, decodeEvent<DeliveryEvent>(event));
    }
    return state.status === 'none' || metadata === null ? null : { state, metadata };
  }

  async #run(
    id: string,
    { metadata }: Loaded,
    command: Exclude<DeliveryCommand, { type: 'requestDelivery' }>,
    commandId: string,
  ): Promise<CommandOutcome<Delivery, DeliveryEvent>> {
    return runCommand(this.#options.eventStore, delivery, {
      stream: streamOf(id),
      command,
      commandId,
      metadata: { ...metadata, actor: 'system:delivery', at: command.at },
      from: 'all',
    });
  }

  #random(): number {
    return (this.#options.random ?? Math.random)();
  }

  #released(ids: readonly string[]): void {
    for (const id of ids) {
      const parked = this.#parked.get(id);
      if (parked !== undefined) this.#promised.set(id, parked.receiver);
      this.#parked.delete(id);
      this.#ready.push(id);
    }
    this.#pump();
  }

  #probeAt(key: string, atMs: number): void {
    if (this.#stopped || this.#probes.has(key)) return;
    const probe = (): void => {
      this.#probes.delete(key);
      this.#receivers.probe(key);
    };
    this.#probes.set(key, setTimeout(probe, Math.max(0, atMs - this.#options.clock.now())));
  }

  #sweep(aheadMs: number): void {
    this.#sweeping = this.#lookThrough(aheadMs)
      .catch((error: unknown) => {
        this.#options.logger.error(
          { error: String(error) },
          'the deliveries that are due cannot be read; trying again',
        );
      })
      .finally(() => {
        if (this.#stopped) return;
        this.#sweepTimer = setTimeout(() => this.#sweep(2 * this.#limits.sweepMs), this.#limits.sweepMs);
      });
  }

  async #lookThrough(aheadMs: number): Promise<void> {
    const { clock, readStore } = this.#options;
    const now = clock.now();
    for (const [id, { receiver, expiresMs }] of this.#parked) {
      if (expiresMs > now) continue;
      this.#receivers.remove(receiver, id);
      this.#released([id]);
    }
    const horizon = aheadMs === Infinity ? endOfTime : toTimestamp(now + aheadMs);
    let behind: { values: readonly string[]; id: string } | undefined;
    for (;;) {
      const { documents } = await readStore.page(deliveriesView, {
        where: [{ field: 'dueAt', to: horizon }],
        sort: [{ field: 'dueAt', descending: false }],
        limit: pageSize,
        offset: 0,
        ...(behind === undefined ? {} : { behind }),
        count: false,
      });
      for (const document of documents) {
        const { id, dueAt } = document;
        if (typeof id !== 'string' || typeof dueAt !== 'string') continue;
        this.notice(id, document);
        behind = { values: [dueAt], id };
      }
      if (this.#stopped || documents.length < pageSize || this.#known.size + this.#later.size >= remembered) return;
    }
  }
}

/** When a delivery in this state is to be looked at again. */
function dueOf(state: Delivery): number | null {
  if (state.status === 'waiting') return Date.parse(state.nextAttemptAt);
  if (state.status === 'sending') return lostAtMs(state);
  return null;
}

async function within(work: Promise<void>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
