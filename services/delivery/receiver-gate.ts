/** Which deliveries wait for a slot at their receiver, which have one reserved, and when a silent receiver is probed. */
import type { Clock } from '#runtime/clock';
import { Receivers, type Answered, type ReceiverLimits } from './receivers.js';

export interface ReceiverGateOptions {
  readonly limits: ReceiverLimits;
  readonly clock: Clock;
  /** These need not wait for a slot any longer. */
  readonly resume: (ids: readonly string[]) => void;
}

/** Deliveries that wait here; what is beyond is left to a sweep. */
const maxWaiting = 500_000;

/** What is not stored yet waits no longer for a slot: its consumer has others to take. */
const longestSoonMs = 3_000;
/** It is looked at so often whether the receiver that it waits for still answers. */
const lookEveryMs = 250;

export type Entry = 'entered' | 'waits' | 'full';

export class ReceiverGate {
  readonly #clock: Clock;
  readonly #resume: (ids: readonly string[]) => void;
  readonly #receivers: Receivers;
  readonly #waitingForSlot = new Map<string, { readonly receiver: string; readonly expiresMs: number }>();
  /** Released by their receiver, which keeps a slot for them. */
  readonly #reservedSlot = new Map<string, string>();
  /** Not stored yet, and about to have a slot. */
  readonly #soon = new Map<string, (isFree: boolean) => void>();
  readonly #probes = new Map<string, NodeJS.Timeout>();
  #stopped = false;

  constructor({ limits, clock, resume }: ReceiverGateOptions) {
    this.#clock = clock;
    this.#resume = resume;
    this.#receivers = new Receivers(
      limits,
      (ids) => this.#release(ids),
      (receiver, atMs) => this.#probeAt(receiver, atMs),
    );
  }

  /** `entered`: send, and call `leave` afterwards. `waits`: the delivery is resumed once it has a slot, or has expired. */
  enter(receiver: string, id: string, expiresMs: number): Entry {
    if (this.#receivers.enter(receiver, id, this.#clock.now())) return 'entered';
    if (this.#waitingForSlot.size >= maxWaiting) {
      this.#receivers.remove(receiver, id);
      return 'full';
    }
    this.#waitingForSlot.set(id, { receiver, expiresMs });
    return 'waits';
  }

  /**
   * The same for a delivery that is not stored yet. It waits in the same line, but only where its turn comes in a moment, and
   * no longer than that. False: it did not, and nothing changed.
   */
  async enterSoon(receiver: string, id: string): Promise<boolean> {
    if (this.#receivers.tryEnter(receiver)) return true;
    if (this.#stopped || !this.#receivers.isSoonFree(receiver, this.#clock.now())) return false;
    if (this.#receivers.enter(receiver, id, this.#clock.now())) return true;
    const isFree = await this.#turnOf(receiver, id);
    if (isFree && this.#receivers.enter(receiver, id, this.#clock.now())) return true;
    this.#receivers.remove(receiver, id);
    this.#receivers.withdraw(receiver, id);
    return false;
  }

  /** `answered` null: nothing was sent, so nothing was learnt. */
  leave(receiver: string, answered: Answered | null): void {
    this.#receivers.leave(receiver, answered, this.#clock.now());
  }

  /** Runs a step of a delivery; a slot that was reserved for it and that it did not take goes to the next one. */
  async withReservation<Result>(id: string, step: () => Promise<Result>): Promise<Result> {
    const receiver = this.#reservedSlot.get(id);
    this.#reservedSlot.delete(id);
    try {
      return await step();
    } finally {
      if (receiver !== undefined) this.#receivers.withdraw(receiver, id);
    }
  }

  /** Resumes a delivery that changed while it waited for a slot: it may go elsewhere now. */
  letGo(id: string): void {
    const waiting = this.#waitingForSlot.get(id);
    if (waiting === undefined) return;
    this.#receivers.remove(waiting.receiver, id);
    this.#release([id]);
  }

  /** Resumes the deliveries that expired while they waited for a slot. */
  releaseExpired(): void {
    const now = this.#clock.now();
    for (const [id, { expiresMs }] of this.#waitingForSlot) if (expiresMs <= now) this.letGo(id);
  }

  stop(): void {
    this.#stopped = true;
    for (const end of this.#soon.values()) end(false);
    for (const timer of this.#probes.values()) clearTimeout(timer);
  }

  /** True once it is released; false where that takes too long, or its receiver answers nobody any more. */
  #turnOf(receiver: string, id: string): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isFree: boolean): void => {
        clearInterval(timer);
        this.#soon.delete(id);
        resolve(isFree);
      };
      let leftMs = longestSoonMs;
      const timer = setInterval(() => {
        leftMs -= lookEveryMs;
        if (leftMs <= 0 || !this.#receivers.isAnswering(receiver, this.#clock.now())) end(false);
      }, lookEveryMs);
      this.#soon.set(id, end);
    });
  }

  #release(released: readonly string[]): void {
    const ids = this.#soon.size === 0 ? released : released.filter((id) => !this.#wasAwaited(id));
    if (ids.length === 0) return;
    for (const id of ids) {
      const waiting = this.#waitingForSlot.get(id);
      if (waiting !== undefined) this.#reservedSlot.set(id, waiting.receiver);
      this.#waitingForSlot.delete(id);
    }
    this.#resume(ids);
  }

  #wasAwaited(id: string): boolean {
    const end = this.#soon.get(id);
    end?.(true);
    return end !== undefined;
  }

  #probeAt(receiver: string, atMs: number): void {
    if (this.#stopped || this.#probes.has(receiver)) return;
    const probe = (): void => {
      this.#probes.delete(receiver);
      this.#receivers.probe(receiver);
    };
    this.#probes.set(receiver, setTimeout(probe, Math.max(0, atMs - this.#clock.now())));
  }
}
