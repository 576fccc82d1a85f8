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
}

interface Site {
  running: number;
  readonly waiting: (() => void)[];
  failures: number;
  last: Refusal | null;
  /** When the breaker lets the next probe through; meaningful from `breakerFailures` on. */
  probeAt: number;
}

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
    if (now < site.probeAt) return site.last;
    site.probeAt = now + this.#options.breakerMs; // this caller is the probe
    return null;
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
    if (site.running === 0 && site.failures === 0) this.#sites.delete(origin);
    else if (this.#sites.size > maxRememberedSites) this.#forgetOldest();
  }

  #siteOf(origin: string): Site {
    let site = this.#sites.get(origin);
    if (site === undefined) {
      site = { running: 0, waiting: [], failures: 0, last: null, probeAt: 0 };
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
