/** Tells "the site is down" from "we are": where nearly all sites go out of reach within a minute, it is us. */

const windowMs = 60_000;
/** With fewer sites a few that are down together say nothing. */
const fewestSites = 10;
const downShare = 0.8;
/** Sites remembered; the one heard of longest ago is forgotten first. */
const maxSites = 10_000;

interface Heard {
  readonly isDown: boolean;
  readonly atMs: number;
}

export class OwnNetwork {
  /** Those heard of last stand last. */
  readonly #sites = new Map<string, Heard>();
  readonly #now: () => number;
  readonly #onChange: (isDown: boolean) => void;
  #sitesDown = 0;
  #isDown = false;

  constructor(now: () => number, onChange: (isDown: boolean) => void) {
    this.#now = now;
    this.#onChange = onChange;
  }

  /** What a load of this site came to. True: it is our own network. */
  tell(origin: string, isDown: boolean): boolean {
    const atMs = this.#now();
    this.#forget(origin);
    for (const [oldest, heard] of this.#sites) {
      if (atMs - heard.atMs < windowMs && this.#sites.size < maxSites) break;
      this.#forget(oldest);
    }
    this.#sites.set(origin, { isDown, atMs });
    if (isDown) this.#sitesDown += 1;
    const now = this.#sites.size >= fewestSites && this.#sitesDown > this.#sites.size * downShare;
    if (now !== this.#isDown) {
      this.#isDown = now;
      this.#onChange(now);
    }
    return now;
  }

  #forget(origin: string): void {
    if (this.#sites.get(origin)?.isDown === true) this.#sitesDown -= 1;
    this.#sites.delete(origin);
  }
}
