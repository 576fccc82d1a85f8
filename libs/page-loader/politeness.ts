/** How hard one site may be asked: so many loads at once, in line; and a breaker that spares a site which is down. */
import type { LoadFailureReason } from './page-loader.js';

export interface PolitenessOptions {
  readonly loadsAtOnce: number;
  /** Failures in a row that open the breaker. */
  readonly breakerFailures: number;
  /** How long it stays open before one load may try. */
  readonly breakerMs: number;
  readonly now: () => number;
}

/** Why a site is not asked now: what its last failure was. */
export interface Refusal {
  readonly reason: LoadFailureReason;
  readonly message: string;
  readonly status: number | null;
}

/** A site that asked to be left alone for a while (`Retry-After`). */
interface Pause extends Refusal {
  readonly untilMs: number;
}

interface Site {
  running: number;
  readonly waiting: (() => void)[];
  failures: number;
  last: Refusal | null;
  /** When the breaker lets the next probe through; meaningful from `breakerFailures` on. */
  probeAt: number;
  pause: Pause | null;
}

/** No site can ask for more: whoever says "next year" means a mistake. */
const longestPauseMs = 3_600_000;

/** Sites remembered for their failures; past that the oldest is forgotten, which only means that it is asked again. */
const maxRememberedSites = 10_000;

export class Politeness {
  readonly #options: PolitenessOptions;
  readonly #sites = new Map<string, Site>();

  constructor(options: PolitenessOptions) {
    this.#options = options;
  }

  /** Null: go on. Otherwise the site has been failing, and its next probe is not due yet. */
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

  /** Leaves the site alone for as long as it asked to be, because of this answer. */
  pause(origin: string, forMs: number, { reason, message, status }: Refusal): void {
    const untilMs = this.#options.now() + Math.min(forMs, longestPauseMs);
    const site = this.#siteOf(origin);
    if (site.pause === null || site.pause.untilMs < untilMs) site.pause = { reason, message, status, untilMs };
  }

  /** For how long the site still asked to be left alone; null: it may be asked. */
  pauseOf(origin: string): (Refusal & { readonly leftMs: number }) | null {
    const site = this.#sites.get(origin);
    if (site === undefined || site.pause === null) return null;
    const { reason, message, status, untilMs } = site.pause;
    const leftMs = Math.ceil(untilMs - this.#options.now());
    if (leftMs <= 0) {
      site.pause = null;
      if (site.running === 0 && site.failures === 0 && site.waiting.length === 0) this.#sites.delete(origin);
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

  /** Takes a place where one is free. A place taken is given back by `leave`. */
  enter(origin: string): boolean {
    const site = this.#siteOf(origin);
    if (site.running >= this.#options.loadsAtOnce) return false;
    site.running += 1;
    return true;
  }

  /** Stands in line for a place. False: the time or `signal` ended the wait. */
  enterInLine(origin: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const { waiting } = this.#siteOf(origin);
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
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

  /** Gives the place back, with what the site did: null where it answered. */
  leave(origin: string, failure: Refusal | null): void {
    const site = this.#siteOf(origin);
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
    const next = site.waiting.shift();
    if (next !== undefined) return next();
    site.running -= 1;
    if (site.running === 0 && site.failures === 0 && site.pause === null) this.#sites.delete(origin);
    else if (this.#sites.size > maxRememberedSites) this.#forgetOldest();
  }

  #siteOf(origin: string): Site {
    let site = this.#sites.get(origin);
    if (site === undefined) {
      site = { running: 0, waiting: [], failures: 0, last: null, probeAt: 0, pause: null };
      this.#sites.set(origin, site);
    }
    return site;
  }

  #forgetOldest(): void {
    for (const [origin, site] of this.#sites) {
      if (site.running > 0) continue;
      this.#sites.delete(origin);
      return;
    }
  }
}
