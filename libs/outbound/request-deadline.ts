/** The time limits of one request, over all its hops. */
import { onAbort } from '#concurrency/on-abort';
import { Fault } from './failures.js';
import type { OutboundLimits } from './limits.js';

/** The longest delay of a Node.js timer. */
const maxTimerMs = 2_147_483_647;

/** How often a request that is paused looks whether it goes on. */
const pausedTickMs = 50;

/** One timer per request: each time it fires, the limit that ends first is checked and the timer is set again. */
export class RequestDeadline {
  readonly startedAt = performance.now();
  readonly #timeoutMs: number;
  readonly #limits: OutboundLimits;
  readonly #stopListening: (() => void) | null;
  #timer: NodeJS.Timeout;
  #windowStartedAt: number | null = null;
  #windowBytes = 0;
  #fault: Fault | null = null;
  #pausedAt: number | null = null;
  /** Time that is not the other side's. */
  #pausedMs = 0;
  /** Ends the step that the request waits for now. */
  #stop: ((fault: Fault) => void) | null = null;
  /** True once request bytes may have reached the other side. */
  sent = false;

  constructor(timeoutMs: number, limits: OutboundLimits, signal: AbortSignal | undefined) {
    this.#timeoutMs = Math.min(Math.max(1, timeoutMs), maxTimerMs);
    this.#limits = limits;
    this.#timer = setTimeout(this.#tick, Math.min(this.#timeoutMs, limits.trickleWindowMs));
    if (signal?.aborted === true) this.#onAbort();
    this.#stopListening = signal === undefined ? null : onAbort(signal, this.#onAbort);
  }

  /** Makes `stop` the way to end the current step; calls it at once where the request has already failed. */
  whileWaiting(stop: (fault: Fault) => void): void {
    this.#stop = stop;
    if (this.#fault !== null) stop(this.#fault);
  }

  requestSent(): void {
    this.sent = true;
    this.#windowStartedAt = null;
  }

  answerStarted(): void {
    this.#windowStartedAt = performance.now();
    this.#windowBytes = 0;
  }

  bytesReceived(count: number): void {
    this.#windowBytes += count;
  }

  /** No limit but the caller's signal ends the request until `resume`. */
  pause(): void {
    this.#pausedAt ??= performance.now();
  }

  resume(): void {
    if (this.#pausedAt === null) return;
    this.#pausedMs += performance.now() - this.#pausedAt;
    this.#pausedAt = null;
    if (this.#windowStartedAt !== null) this.answerStarted();
  }

  fail(fault: Fault): void {
    this.#fault ??= fault;
    this.#stop?.(this.#fault);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#stop = null;
    this.#stopListening?.();
  }

  readonly #onAbort = (): void => this.fail(new Fault('aborted', 'The request was given up.'));

  readonly #tick = (): void => {
    const now = performance.now();
    if (this.#pausedAt !== null) {
      this.#timer = setTimeout(this.#tick, pausedTickMs);
      return;
    }
    const { trickleWindowMs, trickleBytes } = this.#limits;
    const left = this.startedAt + this.#timeoutMs + this.#pausedMs - now;
    if (left <= 0) {
      const what = this.#windowStartedAt === null ? 'did not begin' : 'was not complete';
      return this.fail(new Fault('timed_out', `The answer ${what} within ${seconds(this.#timeoutMs)}.`));
    }
    let next = trickleWindowMs;
    if (this.#windowStartedAt !== null) {
      next = this.#windowStartedAt + trickleWindowMs - now;
      if (next <= 0) {
        if (this.#windowBytes < trickleBytes) {
          return this.fail(
            new Fault(
              'timed_out',
              `The answer came too slowly: under ${trickleBytes} bytes in ${seconds(trickleWindowMs)}.`,
            ),
          );
        }
        this.answerStarted();
        next = trickleWindowMs;
      }
    }
    this.#timer = setTimeout(this.#tick, Math.ceil(Math.min(left, next)));
  };
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}
