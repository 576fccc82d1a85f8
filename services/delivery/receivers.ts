/** Receivers: a fair share of the attempts for each, and a circuit breaker for those that do not answer. Values, no clock and no I/O. */
import { Fifo } from '#concurrency/fifo';

export interface ReceiverLimits {
  /** Attempts at one receiver at once. */
  readonly concurrency: number;
  /** At one that answers quickly: most of such an attempt is spent before the first byte, on our own disk. */
  readonly quickConcurrency: number;
  /** An answer that took no longer is quick. */
  readonly quickMs: number;
  /** Failures in a row that open the breaker. */
  readonly failures: number;
  /** While it is open, one attempt each such time. */
  readonly probeMs: number;
}

export const defaultReceiverLimits: ReceiverLimits = {
  concurrency: 8,
  quickConcurrency: 64,
  quickMs: 500,
  failures: 5,
  probeMs: 30_000,
};

/** What became of an attempt at a receiver. */
export interface Answered {
  /** False where the receiver gave no answer at all. */
  readonly reached: boolean;
  readonly durationMs: number;
}

interface Receiver {
  running: number;
  failures: number;
  /** Quick answers in a row. */
  quick: number;
  /** When its last answer came. */
  answeredMs: number;
  /** Mean time between its last answers; how long it was idle counts little. */
  betweenAnswersMs: number;
  /** null: closed. */
  openUntilMs: number | null;
  probing: boolean;
  /** Deliveries that wait for a slot, first come first served: there may be very many. */
  readonly waiting: Fifo<string>;
  /** Released and not back yet: each has the slot reserved that came free. */
  readonly released: Set<string>;
}

/** The wait that is expected of one whose turn comes soon. */
const soonMs = 2_000;
/** A receiver whose last answer is older may hang. */
const recentMs = 500;
const longestBetweenMs = 1_000;
/** The last ten answers or so make the mean. */
const weightOfPast = 5;
/** Receivers that have nothing running or waiting are forgotten beyond this many. */
const maxTracked = 10_000;

export class Receivers {
  readonly #receivers = new Map<string, Receiver>();
  readonly #limits: ReceiverLimits;
  /** Called with deliveries that may try again. */
  readonly #release: (ids: readonly string[]) => void;
  /** Must call `probe(key)` then. */
  readonly #wakeAt: (key: string, atMs: number) => void;

  constructor(
    limits: ReceiverLimits,
    release: (ids: readonly string[]) => void,
    wakeAt: (key: string, atMs: number) => void,
  ) {
    this.#limits = limits;
    this.#release = release;
    this.#wakeAt = wakeAt;
  }

  /** True: go on, and call `leave` afterwards. False: the delivery waits here and is released later; it uses up no attempt. */
  enter(key: string, id: string, nowMs: number): boolean {
    const receiver = this.#of(key);
    receiver.released.delete(id);
    if (receiver.openUntilMs !== null) {
      if (receiver.probing || nowMs < receiver.openUntilMs) {
        receiver.waiting.push(id);
        if (!receiver.probing) this.#wakeAt(key, receiver.openUntilMs);
        return false;
      }
      receiver.probing = true;
    } else if (receiver.running + receiver.released.size >= this.#slotsOf(receiver)) {
      receiver.waiting.push(id);
      return false;
    }
    receiver.running += 1;
    return true;
  }

  /** The same where there is a slot that nobody waits for; false: nothing changed. */
  tryEnter(key: string): boolean {
    const receiver = this.#of(key);
    const { openUntilMs, running, released, waiting } = receiver;
    if (openUntilMs !== null || waiting.size > 0 || running + released.size >= this.#slotsOf(receiver)) return false;
    receiver.running += 1;
    return true;
  }

  /** Whether one more in the line would soon have its turn, by the time between the last answers. */
  isSoonFree(key: string, nowMs: number): boolean {
    const receiver = this.#receivers.get(key);
    if (receiver === undefined) return false;
    const { waiting, betweenAnswersMs } = receiver;
    return this.isAnswering(key, nowMs) && (waiting.size + 1) * betweenAnswersMs <= soonMs;
  }

  isAnswering(key: string, nowMs: number): boolean {
    const receiver = this.#receivers.get(key);
    return receiver !== undefined && receiver.openUntilMs === null && nowMs - receiver.answeredMs <= recentMs;
  }

  /** `answered` null: nothing was sent, so nothing was learnt. */
  leave(key: string, answered: Answered | null, nowMs: number): void {
    const receiver = this.#of(key);
    receiver.running -= 1;
    const reached = answered?.reached ?? null;
    if (answered !== null) {
      receiver.quick = answered.reached && answered.durationMs <= this.#limits.quickMs ? receiver.quick + 1 : 0;
    }
    if (reached === true) {
      const sinceMs = Math.min(longestBetweenMs, Math.max(0, nowMs - receiver.answeredMs));
      receiver.betweenAnswersMs += (sinceMs - receiver.betweenAnswersMs) / weightOfPast;
      receiver.answeredMs = nowMs;
      receiver.failures = 0;
      receiver.openUntilMs = null;
      receiver.probing = false;
    } else if (reached === false) {
      receiver.failures += 1;
      if (receiver.probing || receiver.failures >= this.#limits.failures) {
        receiver.openUntilMs = nowMs + this.#limits.probeMs;
        receiver.probing = false;
        if (receiver.waiting.size > 0) this.#wakeAt(key, receiver.openUntilMs);
      }
    } else if (receiver.probing) {
      receiver.probing = false;
      this.probe(key);
    }
    this.#releaseNext(key, receiver);
  }

  /** Releases one delivery that waits behind an open circuit breaker. */
  probe(key: string): void {
    const receiver = this.#receivers.get(key);
    if (receiver !== undefined && receiver.openUntilMs !== null && !receiver.probing) this.#releaseFirst(receiver, 1);
  }

  /** For a delivery that was released and did not enter after all: its slot goes to the next. */
  withdraw(key: string, id: string): void {
    const receiver = this.#receivers.get(key);
    if (receiver === undefined || !receiver.released.delete(id)) return;
    this.probe(key);
    this.#releaseNext(key, receiver);
  }

  /** Ends the wait of a delivery that expired meanwhile. */
  remove(key: string, id: string): void {
    this.#receivers.get(key)?.waiting.remove(id);
  }

  /** As soon as one answer is late, it is as for all others. */
  #slotsOf({ quick }: Receiver): number {
    const { concurrency, quickConcurrency } = this.#limits;
    return quick >= concurrency ? quickConcurrency : concurrency;
  }

  #releaseNext(key: string, receiver: Receiver): void {
    const { running, released, waiting, failures, quick } = receiver;
    if (receiver.openUntilMs === null) this.#releaseFirst(receiver, this.#slotsOf(receiver) - running - released.size);
    if (running + released.size + waiting.size + failures + quick === 0) this.#receivers.delete(key);
  }

  #releaseFirst(receiver: Receiver, count: number): void {
    const ids: string[] = [];
    while (ids.length < count) {
      const id = receiver.waiting.take();
      if (id === undefined) break;
      receiver.released.add(id);
      ids.push(id);
    }
    if (ids.length > 0) this.#release(ids);
  }

  #of(key: string): Receiver {
    const known = this.#receivers.get(key);
    if (known !== undefined) return known;
    if (this.#receivers.size >= maxTracked) this.#forgetIdle();
    const receiver: Receiver = {
      running: 0,
      failures: 0,
      quick: 0,
      answeredMs: 0,
      betweenAnswersMs: longestBetweenMs,
      openUntilMs: null,
      probing: false,
      waiting: new Fifo(),
      released: new Set(),
    };
    this.#receivers.set(key, receiver);
    return receiver;
  }

  #forgetIdle(): void {
    for (const [key, { running, waiting, released }] of this.#receivers) {
      if (running + waiting.size + released.size === 0) this.#receivers.delete(key);
    }
  }
}
