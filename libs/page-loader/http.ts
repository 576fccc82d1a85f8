/** The page loader for `mode: http`: when a page is loaded, and how often it is tried. */
import { sleep } from '#concurrency/sleep';
import type { Outbound } from '#outbound/outbound';
import { attemptOnce, failureOf, knownTo, refusedBy, type Door, type AttemptFailure } from './attempt.js';
import { createDecoder } from './decoder.js';
import { OriginLimiter, type OriginLimits, type Refusal } from './origin-limiter.js';
import { OwnNetwork } from './own-network.js';
import type {
  KnownPage,
  LoadedPage,
  LoadFailure,
  LoadSlot,
  PageLoader,
  PageRequest,
  UnchangedPage,
} from './page-loader.js';

export interface HttpPageLoaderOptions {
  /** A number in [0, 1): spreads the waits between attempts. */
  readonly random?: () => number;
  /** Resolves after the wait; rejects when `signal` ends it. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly originLimits?: Partial<OriginLimits>;
  /** Called when nearly all sites go out of reach at once, and when they are back. */
  readonly onOwnNetwork?: (isDown: boolean) => void;
  /** An address whose answer, whatever it is, shows that the network on this side is up. */
  readonly networkProbeUrl?: string | null;
}

const ownNetworkMessage =
  'Nearly all sites are out of reach at once, so it is likely the network here and not this site.';
const maxTimerMs = 2_147_483_647;
const probeTimeoutMs = 5_000;

/** Answers whose Retry-After speaks for the whole site. */
const busyStatuses = new Set([429, 503]);

/** Loads pages through `outbound`, which it does not close. */
export function createHttpPageLoader(outbound: Outbound, options: HttpPageLoaderOptions = {}): PageLoader {
  const random = options.random ?? Math.random;
  const pauseFor = options.sleep ?? sleep;
  const limiter = new OriginLimiter({
    maxConcurrentLoads: 4,
    breakerFailures: 5,
    breakerMs: 30_000,
    now: () => performance.now(),
    ...options.originLimits,
  });
  const { networkProbeUrl = null } = options;
  const ownNetwork = new OwnNetwork({
    now: () => performance.now(),
    onChange: options.onOwnNetwork ?? (() => undefined),
    probe: networkProbeUrl === null ? null : () => answers(outbound, networkProbeUrl),
  });
  const door: Door = { outbound, decoder: createDecoder() };
  const closing = new AbortController();
  const loads = new Set<Promise<unknown>>();

  /** Waits out what the site asked for, where that is not too long. Not null: it is, or the wait was ended. */
  async function outwait(origin: string, timeoutMs: number, ending: () => AbortSignal): Promise<Refusal | null> {
    const pause = limiter.pauseOf(origin);
    if (pause === null) return null;
    const signal = ending();
    if (pause.leftMs >= timeoutMs || signal.aborted) return pause;
    await pauseFor(pause.leftMs, signal);
    return signal.aborted ? pause : null;
  }

  /** Takes a slot of the site. Not null: there is none in time, or the site is spared. */
  async function enter(
    request: PageRequest,
    origin: string,
    timeoutMs: number,
    ending: () => AbortSignal,
  ): Promise<AttemptFailure | null> {
    const refusal = limiter.refusalOf(origin);
    if (refusal !== null) return refusedBy(request, refusal);
    if (limiter.enter(origin) || (await limiter.enterQueue(origin, timeoutMs, ending()))) return null;
    const message = 'Other loads of the same site took too long, so this one could not begin in time.';
    return failureOf(request, 'timed_out', message);
  }

  /** The site's first slot: the caller may end the wait, which then rejects. */
  async function admit(
    request: PageRequest,
    origin: string,
    timeoutMs: number,
    ending: AbortSignal,
  ): Promise<AttemptFailure | null> {
    const { waitSignal } = request;
    // Made where it is waited for: nearly all loads begin at once.
    const either = (): AbortSignal => (waitSignal === undefined ? ending : AbortSignal.any([ending, waitSignal]));
    const pause = await outwait(origin, timeoutMs, either);
    waitSignal?.throwIfAborted();
    if (pause !== null) return refusedBy(request, pause);
    const refused = await enter(request, origin, timeoutMs, either);
    if (refused !== null) waitSignal?.throwIfAborted();
    return refused;
  }

  async function loadPage(
    request: PageRequest,
    known: KnownPage | null,
  ): Promise<LoadedPage | UnchangedPage | LoadFailure> {
    let startedAt = performance.now();
    const finish = (failure: AttemptFailure, attempts: number): LoadFailure => ({
      ok: false,
      reason: failure.reason,
      message: failure.message,
      status: failure.status,
      finalUrl: failure.finalUrl,
      attempts,
      fetchMs: Math.round(performance.now() - startedAt),
    });
    if (request.mode === 'browser') {
      return finish(failureOf(request, 'browser_unavailable', 'This page needs a browser, and there is none here.'), 0);
    }
    const timeoutMs = Math.min(Math.max(1, request.timeoutMs), maxTimerMs);
    const ending = request.signal === undefined ? closing.signal : AbortSignal.any([closing.signal, request.signal]);
    const { origin, host } = siteOf(request.url);
    const asked = known === null ? null : knownTo(request, known);
    let deadline: number | null = null;
    let last: AttemptFailure | null = null;
    const wait = slotWait(request.slot);
    for (let attempts = 1; ; attempts += 1) {
      const refused =
        attempts === 1
          ? await admit(request, origin, timeoutMs, ending)
          : await enter(request, origin, timeoutMs, () => ending);
      if (refused !== null) return finish(last ?? refused, attempts - 1);
      const attemptedAt = performance.now();
      // The time in the queue is not the site's, so it counts apart.
      if (attempts === 1) startedAt = attemptedAt;
      deadline ??= attemptedAt + timeoutMs;
      const attempt = await attemptOnce(door, request, asked, deadline, ending, wait?.beforeBody);
      if (wait !== null) {
        // The wait for the slot is not the site's either.
        const waitedMs = wait.passedMs();
        startedAt += waitedMs;
        deadline += waitedMs;
        if (wait.rejection !== null) {
          limiter.withdraw(origin);
          throw wait.rejection.reason;
        }
      }
      const down = !attempt.ok && attempt.isDown ? attempt : null;
      if (attempt.ok || attempt.status !== null) ownNetwork.answered(host);
      const isOurs = down !== null && (await ownNetwork.unreachable(host, down.network));
      limiter.leave(origin, isOurs ? null : down, performance.now() - attemptedAt);
      if (attempt.ok) return { ...attempt.page, attempts, fetchMs: Math.round(performance.now() - startedAt) };
      if (isOurs)
        return finish(
          { ...attempt, reason: 'own_network', message: `${ownNetworkMessage} ${attempt.message}` },
          attempts,
        );
      if (attempt.retryAfterMs > 0 && busyStatuses.has(attempt.status ?? 0))
        limiter.pause(origin, attempt.retryAfterMs, attempt);
      last = attempt;
      if (attempts >= request.retry.attempts || !attempt.mayRepeat || ending.aborted) return finish(attempt, attempts);
      const askedMs = limiter.pauseOf(origin)?.leftMs ?? 0;
      const waitMs = Math.max(delayMs(request.retry, attempts, random()), askedMs, attempt.retryAfterMs);
      if (performance.now() + waitMs >= deadline) return finish(attempt, attempts);
      request.slot?.giveBack();
      await pauseFor(waitMs, ending);
      if (ending.aborted) return finish(attempt, attempts);
    }
  }

  /** `close` waits for it. */
  function counted<Result>(loading: Promise<Result>): Promise<Result> {
    loads.add(loading);
    const ended = (): void => {
      loads.delete(loading);
    };
    loading.then(ended, ended);
    return loading;
  }

  return {
    async load(request) {
      const page = await counted(loadPage(request, null));
      if (page.ok && 'unchanged' in page) throw new Error('a page that was not asked about cannot be unchanged');
      return page;
    },
    loadIfChanged: (request, known) => counted(loadPage(request, known)),
    async close() {
      closing.abort();
      await Promise.allSettled(loads);
      await door.decoder.close();
    },
  };
}

interface SlotWait {
  readonly beforeBody: () => Promise<void> | null;
  /** Time that was waited since it was asked last. */
  passedMs(): number;
  readonly rejection: { readonly reason: unknown } | null;
}

/** Counts how long a load waits for its slot, and keeps why it did not get one. */
function slotWait(slot: LoadSlot | undefined): SlotWait | null {
  if (slot === undefined) return null;
  let waitedMs = 0;
  let rejection: SlotWait['rejection'] = null;
  return {
    beforeBody() {
      const taking = slot.take();
      if (taking === null) return null;
      const sinceMs = performance.now();
      return taking
        .catch((reason: unknown) => {
          rejection = { reason };
          throw reason;
        })
        .finally(() => (waitedMs += performance.now() - sinceMs));
    },
    passedMs() {
      const passedMs = waitedMs;
      waitedMs = 0;
      return passedMs;
    },
    get rejection() {
      return rejection;
    },
  };
}

async function answers(outbound: Outbound, url: string): Promise<boolean> {
  const answer = await outbound.request({
    method: 'HEAD',
    url,
    headers: {},
    timeoutMs: probeTimeoutMs,
    maxBodyBytes: 1_024,
    onBodyLimit: 'cut',
    maxRedirects: 0,
  });
  return answer.ok;
}

/** The site a page belongs to; an address that is none is a site of its own, and the door says what is wrong with it. */
function siteOf(url: string): { readonly origin: string; readonly host: string } {
  const parsed = URL.parse(url);
  return { origin: parsed?.origin ?? url, host: parsed?.hostname ?? url };
}

/** A wait before the next attempt: between half and all of it, so that tasks that failed together do not come back together. */
function delayMs(retry: PageRequest['retry'], attempts: number, random: number): number {
  const full = retry.strategy === 'fixed' ? retry.baseMs : retry.baseMs * 2 ** (attempts - 1);
  return Math.min(full * (0.5 + random / 2), maxTimerMs);
}
