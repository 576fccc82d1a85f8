/** The page loader for both modes: `http` as ever, `browser` in a Chromium whose every byte passes our door. */
import { sleep } from '#concurrency/sleep';
import { createFilteringProxy, type FilteringProxy, type FilteringProxyOptions } from '#outbound/filtering-proxy';
import { ownAddressTowards } from '#outbound/own-address';
import type { Logger } from '#runtime/logger';
import { failureOf, refusedBy } from '../attempt.js';
import { OriginLimiter } from '../origin-limiter.js';
import type { LoadedPage, LoadFailure, PageLoader, PageRequest } from '../page-loader.js';
import { BrowserPool } from './browser-process.js';
import { isExecutable, type BrowserPlace } from './find-browser.js';
import { createIdleHandlers, type IdleHandlers } from './idle-handlers.js';
import { visitWithSession } from './session-visit.js';
import type { VisitResult } from './visit.js';
import { BrowserGone, usualBounds, type VisitBounds } from './visit-end.js';

export interface BrowserPageLoaderOptions {
  /** For pages that need no browser. */
  readonly http: PageLoader;
  readonly place: BrowserPlace & { readonly ok: true };
  readonly door: FilteringProxyOptions;
  readonly logger: Logger;
  /** Pages that are rendered at once. */
  readonly processes: number;
  readonly bounds?: Partial<VisitBounds>;
}

const downReasons: ReadonlySet<string> = new Set(['connect_failed', 'dns_failed', 'tls_failed', 'timed_out']);

type Failed = Extract<VisitResult, { readonly ok: false }>;

/** Whether it is the site that failed, as for plain pages; not where it answered and its scripts took all the time. */
function isDown(result: VisitResult): result is Failed {
  if (result.ok) return false;
  return result.status === null ? downReasons.has(result.reason) : result.status >= 500;
}

/** Whether the browser of this machine can still be run. */
function isThere(place: BrowserPlace & { readonly ok: true }): boolean {
  return 'endpoint' in place || isExecutable(place.executablePath);
}

interface Made {
  readonly proxy: FilteringProxy;
  readonly handlers: IdleHandlers;
  readonly pool: BrowserPool;
}

/** A crash or a hang costs its run one more try. */
const mostCrashes = 2;

export function createBrowserPageLoader(options: BrowserPageLoaderOptions): PageLoader {
  const { http, place, door, logger, processes } = options;
  const bounds = { ...usualBounds, ...options.bounds };
  /** Made with the first page that needs it. */
  let parts: Promise<Made> | null = null;
  const closing = new AbortController();
  const sites = new OriginLimiter({
    // Browsers bound how many there are at once.
    maxConcurrentLoads: processes,
    breakerFailures: 5,
    breakerMs: 30_000,
    now: () => performance.now(),
  });

  async function open(): Promise<Made> {
    // Where the browser can reach it: on loopback, or on the network that leads to it and on no other.
    const host = 'endpoint' in place ? await ownAddressTowards(place.endpoint) : '127.0.0.1';
    const handlers = await createIdleHandlers();
    const proxy = await createFilteringProxy({ ...door, host });
    return { proxy, handlers, pool: new BrowserPool({ place, proxyUrl: proxy.url, handlers, processes }) };
  }

  const opened = () => {
    parts ??= open().catch((error: unknown) => {
      parts = null;
      throw error;
    });
    return parts;
  };

  /** Counts what the site answered: one that is down is left alone for a while. */
  async function spared<Visited extends { readonly result: VisitResult }>(
    { url }: PageRequest,
    visit: () => Promise<Visited>,
  ): Promise<Visited> {
    const { origin } = new URL(url);
    sites.enter(origin);
    const begunAt = performance.now();
    try {
      const visited = await visit();
      sites.leave(origin, isDown(visited.result) ? visited.result : null, performance.now() - begunAt);
      return visited;
    } catch (error) {
      sites.withdraw(origin);
      throw error;
    }
  }

  /** One attempt, a crash aside. */
  async function attempt(request: PageRequest, timeoutMs: number): Promise<VisitResult> {
    const { render } = request;
    if (render === undefined) throw new Error('a page to be rendered without settings for it');
    const refusal = sites.refusalOf(new URL(request.url).origin);
    if (refusal !== null) {
      return { ...refusedBy(request, refusal), rendering: { refused: [], screenshot: null } };
    }
    for (let crashes = 1; ; crashes += 1) {
      try {
        const { proxy, pool } = await opened();
        return await pool.run(render.owner, crashes > 1, async (process) => {
          await request.slot?.take();
          return spared(request, () => visitWithSession(process, proxy, request, render, timeoutMs, bounds));
        });
      } catch (error) {
        if (request.waitSignal?.aborted === true || closing.signal.aborted) throw error;
        if (!(error instanceof BrowserGone) && !isThere(place)) {
          const said = 'Pages cannot be rendered: the browser that was here is gone (BROWSER).';
          return { ...failureOf(request, 'browser_unavailable', said), rendering: { refused: [], screenshot: null } };
        }
        const why = error instanceof Error ? error.message : String(error);
        logger.warn({ why: why.split('\n')[0], crashes }, 'a browser ended while it rendered a page');
        if (crashes < mostCrashes) continue;
        const said =
          error instanceof BrowserGone
            ? 'The browser crashed or hung on this page, twice.'
            : 'The browser could not be started, twice.';
        return { ...failureOf(request, 'browser_crashed', said), rendering: { refused: [], screenshot: null } };
      }
    }
  }

  async function render(request: PageRequest): Promise<LoadedPage | LoadFailure> {
    const startedAt = performance.now();
    for (let attempts = 1; ; attempts += 1) {
      const result = await attempt(request, request.timeoutMs);
      const fetchMs = Math.round(performance.now() - startedAt);
      if (result.ok) return { ...result, attempts, fetchMs };
      const { reason, message, status, finalUrl, rendering, mayRepeat } = result;
      if (!mayRepeat || attempts >= request.retry.attempts || closing.signal.aborted) {
        return { ok: false, reason, message, status, finalUrl, attempts, fetchMs, rendering };
      }
      request.slot?.giveBack();
      await sleep(request.retry.baseMs, closing.signal).catch(() => undefined);
    }
  }

  return {
    load: (request) => (request.mode === 'browser' ? render(request) : http.load(request)),
    loadIfChanged: (request, known) =>
      request.mode === 'browser' ? render(request) : http.loadIfChanged(request, known),
    async close() {
      closing.abort();
      const made = await parts;
      await Promise.all([http.close(), made?.pool.close()]);
      await Promise.all([made?.proxy.close(), made?.handlers.remove()]);
    },
  };
}
