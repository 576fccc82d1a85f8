/** The clock of one request. */
import { Fault } from './failures.js';
import type { OutboundLimits } from './limits.js';

/** The longest time that a timer of Node.js can hold. */
const maxTimerMs = 2_147_483_647;

/** The time and the end of one request, over all its hops: one timer, looked at again whenever it fires. */
export class Run {
  readonly startedAt = performance.now();
  readonly #timeoutMs: number;
  readonly #limits: OutboundLimits;
  readonly #signal: AbortSignal | undefined;
  #timer: NodeJS.Timeout;
  #sentAt: number | null = null;
  #windowStartedAt: number | null = null;
  #windowBytes = 0;
  #fault: Fault | null = null;
  /** Ends what the request waits for now. */
  #stop: ((fault: Fault) => void) | null = null;
  /** Request bytes may have left. */
  sent = false;

  constructor(timeoutMs: number, limits: OutboundLimits, signal: AbortSignal | undefined) {
    this.#timeoutMs = Math.min(Math.max(1, timeoutMs), maxTimerMs);
    this.#limits = limits;
    this.#signal = signal;
    this.#timer = setTimeout(this.#tick, Math.min(this.#timeoutMs, limits.firstByteMs));
    if (signal !== undefined) {
      signal.addEventListener('abort', this.#onAbort, { once: true });
      if (signal.aborted) this.#onAbort();
    }
  }

  /** From now on `stop` is called when the request must end; at once where it already must. */
  whileWaiting(stop: (fault: Fault) => void): void {
    this.#stop = stop;
    if (this.#fault !== null) stop(this.#fault);
  }

  requestSent(): void {
    this.sent = true;
    this.#sentAt = performance.now();
    this.#windowStartedAt = null;
  }

  answerStarted(): void {
    this.#windowStartedAt = performance.now();
    this.#windowBytes = 0;
  }

  bytesCame(count: number): void {
    this.#windowBytes += count;
  }

  end(fault: Fault): void {
    this.#fault ??= fault;
    this.#stop?.(this.#fault);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#stop = null;
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => this.end(new Fault('aborted', 'The request was given up.'));

  readonly #tick = (): void => {
    const now = performance.now();
    const { firstByteMs, trickleWindowMs, trickleBytes } = this.#limits;
    const left = this.startedAt + this.#timeoutMs - now;
    if (left <= 0) {
      return this.end(new Fault('timed_out', `The answer was not complete within ${seconds(this.#timeoutMs)}.`));
    }
    let next = firstByteMs;
    if (this.#windowStartedAt !== null) {
      next = this.#windowStartedAt + trickleWindowMs - now;
      if (next <= 0) {
        if (this.#windowBytes < trickleBytes) {
          return this.end(
            new Fault(
              'timed_out',
              `The answer came too slowly: under ${trickleBytes} bytes in ${seconds(trickleWindowMs)}.`,
            ),
          );
        }
        this.answerStarted();
        next = trickleWindowMs;
      }
    } else if (this.#sentAt !== null) {
      next = this.#sentAt + firstByteMs - now;
      if (next <= 0) {
        return this.end(new Fault('timed_out', `The server did not begin to answer within ${seconds(firstByteMs)}.`));
      }
    }
    this.#timer = setTimeout(this.#tick, Math.ceil(Math.min(left, next)));
  };
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}
