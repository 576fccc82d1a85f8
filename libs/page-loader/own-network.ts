/**
 * Distinguishes "the site is down" from "this network is down". What a user can stage by the choice of addresses is no
 * evidence: only hosts count that answered here before, and many on one network count as one.
 */
const recentMs = 3_600_000;
const windowMs = 60_000;
/** With fewer hosts or networks, a few that go down together mean nothing. */
const minHosts = 10;
const minNetworks = 5;
const downShare = 0.8;
const probeHoldsMs = 10_000;
/** Hosts that are tracked; the one heard of longest ago goes first. */
const maxHosts = 2_000;

interface TrackedHost {
  readonly lastUpMs: number | null;
  /** Since when it cannot be reached, and in which network it is; null: it can. */
  readonly down: { readonly sinceMs: number; readonly network: string } | null;
  readonly atMs: number;
}

export interface OwnNetworkOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly onChange: (isDown: boolean) => void;
  /**
   * Whether an address that the operator named answers. null: none is named; then one host of any that answers shows that
   * the network is up.
   */
  readonly probe: (() => Promise<boolean>) | null;
}

export class OwnNetwork {
  readonly #options: OwnNetworkOptions;
  /** In the order in which they were heard of. */
  readonly #hosts = new Map<string, TrackedHost>();
  #lastAnswerMs = -Infinity;
  #isDown = false;
  #probed: { readonly atMs: number; readonly answers: Promise<boolean> } | null = null;

  constructor(options: OwnNetworkOptions) {
    this.#options = options;
  }

  /** A load of this host was answered. */
  answered(host: string): void {
    const nowMs = this.#options.now();
    this.#lastAnswerMs = nowMs;
    this.#track(host, { lastUpMs: nowMs, down: null, atMs: nowMs });
    if (this.#isDown && this.#options.probe === null) this.#become(false);
  }

  /** This host, of this network (such as an address block), could not be reached. True: because this side's network is down. */
  async unreachable(host: string, network: string): Promise<boolean> {
    const nowMs = this.#options.now();
    const known = this.#hosts.get(host);
    const sinceMs = known?.down?.sinceMs ?? nowMs;
    this.#track(host, { lastUpMs: known?.lastUpMs ?? null, down: { sinceMs, network }, atMs: nowMs });
    const isDown = this.#isSuspect(nowMs) && !(await this.#probeAnswers(nowMs));
    this.#become(isDown);
    return isDown;
  }

  #isSuspect(nowMs: number): boolean {
    const { probe } = this.#options;
    const networks = new Set<string>();
    let down = 0;
    let heard = 0;
    for (const { lastUpMs, down: isDown, atMs } of this.#hosts.values()) {
      if (lastUpMs === null || nowMs - lastUpMs > recentMs || nowMs - atMs > windowMs) continue;
      // Without an address to ask, whatever has answered since shows that this host is down for reasons of its own.
      if (isDown !== null && probe === null && isDown.sinceMs <= this.#lastAnswerMs) continue;
      heard += 1;
      if (isDown === null) continue;
      down += 1;
      networks.add(isDown.network);
    }
    return down >= minHosts && networks.size >= minNetworks && down > heard * downShare;
  }

  async #probeAnswers(nowMs: number): Promise<boolean> {
    const { probe } = this.#options;
    if (probe === null) return false;
    if (this.#probed === null || nowMs - this.#probed.atMs > probeHoldsMs) {
      this.#probed = { atMs: nowMs, answers: probe().catch(() => false) };
    }
    return this.#probed.answers;
  }

  #become(isDown: boolean): void {
    if (isDown === this.#isDown) return;
    this.#isDown = isDown;
    this.#options.onChange(isDown);
  }

  #track(host: string, tracked: TrackedHost): void {
    this.#hosts.delete(host);
    this.#hosts.set(host, tracked);
    if (this.#hosts.size <= maxHosts) return;
    for (const oldest of this.#hosts.keys()) {
      this.#hosts.delete(oldest);
      return;
    }
  }
}
