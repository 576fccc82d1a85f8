/** The deliveries that one worker tracks: due now, in progress, waiting for a slot, or due soon by a timer. */
import type { Clock } from '#runtime/clock';
import { asWork } from '#runtime/event-loop';

/** When to look at a delivery again; null where it is over; `waiting_for_slot` until its receiver has a free slot. */
export type NextLook = number | null | 'waiting_for_slot';

export interface QueueOptions {
  readonly clock: Clock;
  readonly concurrency: number;
  /** What is beyond stays in the view until a later sweep. */
  readonly maxTracked: number;
  /** What is due later than that is left to a later sweep. */
  readonly horizonMs: number;
  /** One step of a delivery. Never rejects. */
  readonly advance: (id: string) => Promise<NextLook>;
}

export class DeliveryQueue {
  readonly #options: QueueOptions;
  /** Due, in progress, or waiting for a slot. */
  readonly #tracked = new Set<string>();
  readonly #ready: string[] = [];
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
  offer(id: string, dueMs: number): void {
    if (this.#stopped || this.#tracked.has(id)) return;
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
      this.resume([id]);
      return;
    }
    const timer = setTimeout(() => {
      this.#later.delete(id);
      this.offer(id, dueMs);
    }, waitMs);
    this.#later.set(id, { dueMs, timer });
  }

  /** For tracked deliveries that need not wait for a slot any longer. */
  resume(ids: readonly string[]): void {
    this.#ready.push(...ids);
    this.#startNext();
  }

  /** Starts nothing new. Resolves once every step in progress has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { timer } of this.#later.values()) clearTimeout(timer);
    this.#ready.length = 0;
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #startNext(): void {
    while (!this.#stopped && this.#running.size < this.#options.concurrency) {
      const id = this.#ready.shift();
      if (id === undefined) return;
      const running: Promise<void> = this.#run(id).finally(() => {
        this.#running.delete(running);
        this.#startNext();
      });
      this.#running.add(running);
    }
  }

  async #run(id: string): Promise<void> {
    const next = await asWork({ what: 'delivery', id }, () => this.#options.advance(id));
    if (next === 'waiting_for_slot') return;
    this.#tracked.delete(id);
    if (next !== null) this.offer(id, next);
  }
}
