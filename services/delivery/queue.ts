/** The deliveries that one worker tracks: due now, in progress, waiting for a slot, or due soon by a timer. */
import type { Clock } from '#runtime/clock';
import { Fifo } from '#concurrency/fifo';
import { asWork } from '#runtime/event-loop';

/** When to look at a delivery again; null where it is over or left to a sweep; `waiting_for_slot` until its receiver has a free slot. */
export type NextLook = number | null | 'waiting_for_slot';

export interface QueueOptions {
  readonly clock: Clock;
  readonly concurrency: number;
  /** What is beyond stays in the view until a later sweep. Those that wait for a slot are not among them. */
  readonly maxTracked: number;
  /** What is due later than that is left to a later sweep. */
  readonly horizonMs: number;
  /** One step of a delivery. Never rejects. */
  readonly advance: (id: string) => Promise<NextLook>;
}

/** What came by itself, or what a sweep found. */
export type Lane = 'now' | 'backlog';

const startedPerBacklog = 3;

export class DeliveryQueue {
  readonly #options: QueueOptions;
  /** Due or in progress. */
  readonly #tracked = new Set<string>();
  /** Waiting for a slot: however many there are, they keep no other delivery from being tracked. */
  readonly #waiting = new Set<string>();
  /** What came just now, and what a sweep found: a long backlog delays nothing new. */
  readonly #ready = { now: new Fifo<string>(), backlog: new Fifo<string>() };
  #startedSinceBacklog = 0;
  readonly #running = new Set<Promise<void>>();
  readonly #later = new Map<string, { readonly dueMs: number; readonly timer: NodeJS.Timeout }>();
  #stopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#tracked.size + this.#later.size >= this.#options.maxTracked;
  }

  /** Cheap, and harmless where it is wrong or comes twice. */
  offer(id: string, dueMs: number, lane: Lane = 'now'): void {
    if (this.#stopped || this.#tracked.has(id) || this.#waiting.has(id)) return;
    const waitMs = dueMs - this.#options.clock.now();
    const later = this.#later.get(id);
    if (later !== undefined) {
      // Timers run by another clock: what is due by ours does not wait for them.
      if (waitMs > 0 && later.dueMs <= dueMs) return;
      clearTimeout(later.timer);
      this.#later.delete(id);
    }
    if (this.isFull || waitMs > this.#options.horizonMs) return;
    if (waitMs <= 0) {
      this.#tracked.add(id);
      this.#ready[lane].push(id);
      this.#startNext();
      return;
    }
    const timer = setTimeout(() => {
      this.#later.delete(id);
      this.offer(id, dueMs);
    }, waitMs);
    this.#later.set(id, { dueMs, timer });
  }

  /** For deliveries that need not wait for a slot any longer. */
  resume(ids: readonly string[]): void {
    for (const id of ids) {
      this.#waiting.delete(id);
      this.#tracked.add(id);
      this.#ready.now.push(id);
    }
    this.#startNext();
  }

  /** Runs a step of a delivery at once; null where it is tracked already, or others are before it. Resolves once it has ended. */
  runNow(id: string, step: () => Promise<NextLook>): Promise<void> | null {
    const { now, backlog } = this.#ready;
    if (this.#stopped || this.#tracked.has(id) || this.#waiting.has(id) || this.#later.has(id)) return null;
    if (this.#running.size >= this.#options.concurrency || now.size + backlog.size > 0) return null;
    this.#tracked.add(id);
    return this.#start(id, step);
  }

  /** Starts nothing new. Resolves once every step in progress has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { timer } of this.#later.values()) clearTimeout(timer);
    this.#ready.now.clear();
    this.#ready.backlog.clear();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #startNext(): void {
    while (!this.#stopped && this.#running.size < this.#options.concurrency) {
      const id = this.#nextReady();
      if (id === undefined) return;
      void this.#start(id, () => this.#options.advance(id));
    }
  }

  #start(id: string, step: () => Promise<NextLook>): Promise<void> {
    const running: Promise<void> = this.#run(id, step).finally(() => {
      this.#running.delete(running);
      this.#startNext();
    });
    this.#running.add(running);
    return running;
  }

  /** Of what a sweep found one for every few others, so that it gets its turn too. */
  #nextReady(): string | undefined {
    const { now, backlog } = this.#ready;
    const isTurnOfBacklog = this.#startedSinceBacklog >= startedPerBacklog;
    const id = isTurnOfBacklog ? (backlog.take() ?? now.take()) : (now.take() ?? backlog.take());
    this.#startedSinceBacklog = isTurnOfBacklog ? 0 : this.#startedSinceBacklog + 1;
    return id;
  }

  async #run(id: string, step: () => Promise<NextLook>): Promise<void> {
    // Its receiver may have a slot for it before this step is over.
    this.#waiting.add(id);
    const next = await asWork({ what: 'delivery', id }, step);
    if (next === 'waiting_for_slot') {
      if (this.#waiting.has(id)) this.#tracked.delete(id);
      return;
    }
    this.#waiting.delete(id);
    this.#tracked.delete(id);
    if (next !== null) this.offer(id, next);
  }
}
