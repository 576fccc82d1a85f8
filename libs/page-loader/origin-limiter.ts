/** Limits per origin: concurrent loads with a queue, a circuit breaker, and the pause that Retry-After asks for. */
import type { LoadFailureReason } from './page-loader.js';

export interface OriginLimits {
  readonly maxConcurrentLoads: number;
  /** Failures in a row that open the circuit breaker. */
  readonly breakerFailures: number;
  /** How long it stays open before one load may try. */
  readonly breakerMs: number;
  readonly now: () => number;
}

/** Why a site is not loaded now: its last failure. */
export interface Refusal {
  readonly reason: LoadFailureReason;
  readonly message: string;
  readonly status: number | null;
}

/** Until when a site asked to be left alone (`Retry-After`). */
interface Pause extends Refusal {
  readonly untilMs: number;
}

interface Site {
  running: number;
  readonly waiting: (() => void)[];
  failures: number;
  last: Refusal | null;
  /** How long a load takes, as a moving average; null before the first has ended. */
  loadMs: number | null;
  /** When the breaker lets the next probe through; meaningful from `breakerFailures` on. */
  probeAt: number;
  pause: Pause | null;
}

/** A site cannot ask for more: "next year" is a mistake. */
const longestPauseMs = 3_600_000;

/** The weight of the newest load in the moving average of how long a load takes. */
const newestWeight = 0.3;
/** A site whose loads take no longer never has a queue that is in vain. */
const quickMs = 100;
/** Loads of one site that wait, however fast it is. */
const maxWaiting = 1_000;

/** Beyond this many the oldest site is dropped, which only means that its breaker closes. */
const maxTrackedSites = 10_000;

export class OriginLimiter {
  readonly #options: OriginLimits;
  readonly #sites = new Map<string, Site>();

  constructor(options: OriginLimits) {
    this.#options = options;
  }

  /** Null: load it. Otherwise the breaker is open and its next probe is not due yet. */
  refusalOf(origin: string): Refusal | null {
    const site = this.#sites.get(origin);
    if (site === undefined || site.last === null || site.failures < this.#options.breakerFailures) return null;
    const now = this.#options.now();
    if (now < site.probeAt) {
      const seconds = Math.ceil((site.probeAt - now) / 1_000);
      const message = `${site.last.message} The site failed ${site.failures} times in a row, so it is spared for another ${seconds} s.`;
      return { ...site.last, message };
    }
    site.probeAt = now + this.#options.breakerMs; // this caller is the probe
    return null;
  }

  /** Pauses the site for as long as this answer asked. */
  pause(origin: string, forMs: number, { reason, message, status }: Refusal): void {
    const untilMs = this.#options.now() + Math.min(forMs, longestPauseMs);
    const site = this.#siteOf(origin);
    if (site.pause === null || site.pause.untilMs < untilMs) site.pause = { reason, message, status, untilMs };
  }

  /** How long the site's pause still lasts; null: it has none. */
  pauseOf(origin: string): (Refusal & { readonly leftMs: number }) | null {
    const site = this.#sites.get(origin);
    if (site === undefined || site.pause === null) return null;
    const { reason, message, status, untilMs } = site.pause;
    const leftMs = Math.ceil(untilMs - this.#options.now());
    if (leftMs <= 0) {
      site.pause = null;
      this.#dropIfIdle(origin, site);
      return null;
    }
    const seconds = Math.ceil(leftMs / 1_000);
    return {
      reason,
      status,
      leftMs,
      message: `${message} The site asked to be left alone (Retry-After), for another ${seconds} s.`,
    };
  }

  /** Takes a slot where one is free; `leave` gives it back. */
  enter(origin: string): boolean {
    const site = this.#siteOf(origin);
    if (site.running >= this.#options.maxConcurrentLoads) return false;
    site.running += 1;
    return true;
  }

  /**
   * Queues for a slot. False: the timeout or `signal` ended the wait, or at the pace of this site it would be in vain. So a
   * slow site has a short queue, whatever is asked of it.
   */
  enterQueue(origin: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const { waiting, loadMs } = this.#siteOf(origin);
    const expectedMs = ((loadMs ?? 0) * (waiting.length + 1)) / this.#options.maxConcurrentLoads;
    return new Promise((resolve) => {
      if (signal.aborted || waiting.length >= maxWaiting || expectedMs > timeoutMs) return resolve(false);
      const granted = (): void => {
        settle();
        resolve(true);
      };
      const ended = (): void => {
        settle();
        const at = waiting.indexOf(granted);
        if (at !== -1) waiting.splice(at, 1);
        resolve(false);
      };
      const timer = setTimeout(ended, timeoutMs);
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', ended);
      };
      signal.addEventListener('abort', ended, { once: true });
      waiting.push(granted);
    });
  }

  /** Gives the slot back, with the site's failure (null where it answered) and how long the load took. */
  leave(origin: string, failure: Refusal | null, tookMs: number): void {
    const site = this.#siteOf(origin);
    site.loadMs = site.loadMs === null ? tookMs : site.loadMs + (tookMs - site.loadMs) * newestWeight;
    if (failure === null) {
      site.failures = 0;
      site.last = null;
    } else {
      site.failures += 1;
      site.last = failure;
      if (site.failures === this.#options.breakerFailures) {
        site.probeAt = this.#options.now() + this.#options.breakerMs;
      }
    }
    this.#free(origin, site);
  }

  /** Gives back a slot that was not used. */
  withdraw(origin: string): void {
    this.#free(origin, this.#siteOf(origin));
  }

  #free(origin: string, site: Site): void {
    const next = site.waiting.shift();
    if (next !== undefined) return next();
    site.running -= 1;
    this.#dropIfIdle(origin, site);
    if (this.#sites.size > maxTrackedSites) this.#dropOldest();
  }

  #siteOf(origin: string): Site {
    let site = this.#sites.get(origin);
    if (site === undefined) {
      site = { running: 0, waiting: [], failures: 0, last: null, loadMs: null, probeAt: 0, pause: null };
      this.#sites.set(origin, site);
    }
    return site;
  }

  /** What is known of a site that is well and quick is nothing. */
  #dropIfIdle(origin: string, { running, waiting, failures, pause, loadMs }: Site): void {
    if (running > 0 || waiting.length > 0 || failures > 0 || pause !== null || (loadMs ?? 0) > quickMs) return;
    this.#sites.delete(origin);
  }

  #dropOldest(): void {
    for (const [origin, site] of this.#sites) {
      if (site.running > 0) continue;
      this.#sites.delete(origin);
      return;
    }
  }
}
