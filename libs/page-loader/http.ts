/** The page loader for `mode: http`: one page through the outbound door, decoded, with retries and per-origin limits. */
import { hash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { retryAfterMs } from '#concurrency/retry-after';
import { sleep } from '#concurrency/sleep';
import type { Outbound, OutboundAnswer, OutboundFailure, OutboundFailureReason } from '#outbound/outbound';
import { contentOf } from './content.js';
import { createDecoder } from './decoder.js';
import type { DecodedText, Decoder } from './decoder.js';
import { OwnNetwork } from './own-network.js';
import type {
  KnownPage,
  LoadedPage,
  LoadFailure,
  LoadFailureReason,
  PageLoader,
  PageRequest,
  UnchangedPage,
} from './page-loader.js';
import { OriginLimiter, type OriginLimits, type Refusal } from './origin-limiter.js';

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

const maxRedirects = 5;
const ownNetworkMessage =
  'Nearly all sites are out of reach at once, so it is likely the network here and not this site.';
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.8';
const maxTimerMs = 2_147_483_647;
const probeTimeoutMs = 5_000;

/** Answers that a later attempt may better. */
const passingStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Answers that say the request was not worked on, so that any method may be sent again. */
const unworkedStatuses = new Set([425, 429, 503]);
/** Answers whose Retry-After speaks for the whole site. */
const busyStatuses = new Set([429, 503]);
const passingReasons: ReadonlySet<LoadFailureReason> = new Set([
  'dns_failed',
  'connect_failed',
  'tls_failed',
  'timed_out',
  'protocol_error',
]);
/** What says that a site is down, as against answering badly. */
const downReasons: ReadonlySet<LoadFailureReason> = new Set([
  'dns_failed',
  'connect_failed',
  'tls_failed',
  'timed_out',
]);
/** Methods whose repetition may do its work twice. */
const unrepeatable = new Set(['POST', 'PATCH']);

const reasonOf: Readonly<Record<OutboundFailureReason, LoadFailureReason>> = {
  invalid_url: 'address_denied',
  address_denied: 'address_denied',
  dns_failed: 'dns_failed',
  connect_failed: 'connect_failed',
  tls_failed: 'tls_failed',
  timed_out: 'timed_out',
  too_large: 'too_large',
  too_many_redirects: 'too_many_redirects',
  redirect_refused: 'protocol_error',
  protocol_error: 'protocol_error',
  bad_encoding: 'bad_encoding',
  aborted: 'timed_out',
};

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
  async function outwait(origin: string, timeoutMs: number, ending: AbortSignal): Promise<Refusal | null> {
    const pause = limiter.pauseOf(origin);
    if (pause === null) return null;
    if (pause.leftMs >= timeoutMs || ending.aborted) return pause;
    await pauseFor(pause.leftMs, ending);
    return ending.aborted ? pause : null;
  }

  async function loadPage(
    request: PageRequest,
    known: KnownPage | null,
  ): Promise<LoadedPage | UnchangedPage | LoadFailure> {
    let startedAt = performance.now();
    const finish = (failure: Failure, attempts: number): LoadFailure => ({
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
    const waitEnding = request.waitSignal === undefined ? ending : AbortSignal.any([ending, request.waitSignal]);
    const origin = originOf(request.url);
    const asked = known === null ? null : knownTo(request, known);
    let deadline: number | null = null;
    let last: Failure | null = null;
    for (let attempts = 1; ; attempts += 1) {
      const pause = attempts === 1 ? await outwait(origin, timeoutMs, waitEnding) : null;
      if (attempts === 1) request.waitSignal?.throwIfAborted();
      const refusal = pause ?? limiter.refusalOf(origin);
      if (refusal !== null) {
        return finish(
          last ?? { ...failureOf(request, refusal.reason, refusal.message), status: refusal.status },
          attempts - 1,
        );
      }
      // The time in the queue is not the site's, so it counts apart.
      if (!limiter.enter(origin) && !(await limiter.enterQueue(origin, timeoutMs, waitEnding))) {
        if (attempts === 1) request.waitSignal?.throwIfAborted();
        const message = 'Other loads of the same site took too long, so this one could not begin in time.';
        return finish(last ?? failureOf(request, 'timed_out', message), attempts - 1);
      }
      if (attempts === 1) {
        try {
          await request.onAdmitted?.();
        } catch (error) {
          limiter.withdraw(origin);
          throw error;
        }
      }
      const attemptedAt = performance.now();
      if (attempts === 1) startedAt = attemptedAt;
      deadline ??= attemptedAt + timeoutMs;
      const attempt = await attemptOnce(door, request, asked, deadline, ending);
      const down = !attempt.ok && attempt.isDown ? attempt : null;
      if (attempt.ok || attempt.status !== null) ownNetwork.answered(hostOf(origin));
      const isOurs = down !== null && (await ownNetwork.unreachable(hostOf(origin), down.network));
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

interface Failure {
  readonly ok: false;
  readonly reason: LoadFailureReason;
  readonly message: string;
  readonly status: number | null;
  readonly finalUrl: string;
  readonly mayRepeat: boolean;
  /** The site could not be reached, as against answering badly. */
  readonly isDown: boolean;
  /** What else shares the fate of a site that is down: its address block, or its domain. */
  readonly network: string;
  /** What the server asks to wait. */
  readonly retryAfterMs: number;
}

type Measured = 'attempts' | 'fetchMs';
type Attempt =
  { readonly ok: true; readonly page: Omit<LoadedPage, Measured> | Omit<UnchangedPage, Measured> } | Failure;

/** Headers that ask for a page only if it has changed, and where it was. */
interface Asked {
  readonly finalUrl: string;
  readonly validators: Readonly<Record<string, string>>;
}

/** A tag as servers write it; one that is anything else is not sent back. */
const tagShape = /^[\x21-\x7e\x80-\xff]{1,256}$/;

/** null: the server gave nothing to ask with, or the request asks so itself. */
function knownTo({ method, headers }: PageRequest, { etag, lastModified, finalUrl }: KnownPage): Asked | null {
  if (method !== 'GET' || Object.keys(headers).some((name) => /^(if-|range$)/i.test(name))) return null;
  const isDate = lastModified !== null && lastModified.length < 64 && !Number.isNaN(Date.parse(lastModified));
  const validators = {
    ...(etag !== null && tagShape.test(etag) ? { 'if-none-match': etag } : {}),
    ...(isDate ? { 'if-modified-since': lastModified } : {}),
  };
  return Object.keys(validators).length === 0 ? null : { finalUrl, validators };
}

/** What a page comes in through. */
interface Door {
  readonly outbound: Outbound;
  readonly decoder: Decoder;
}

async function attemptOnce(
  door: Door,
  request: PageRequest,
  known: Asked | null,
  deadline: number,
  signal: AbortSignal,
): Promise<Attempt> {
  const headers = headersOf(request);
  const answer = await door.outbound.request({
    method: request.method,
    url: request.url,
    headers: known === null ? headers : { ...headers, ...known.validators },
    ...(request.body === null ? {} : { body: request.body }),
    timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())),
    maxBodyBytes: request.maxBytes,
    onBodyLimit: 'fail',
    maxRedirects: request.followRedirects ? maxRedirects : 0,
    keepsCookies: true,
    ...(request.proxyUrl === null ? {} : { proxyUrl: request.proxyUrl }),
    signal,
  });
  if (!answer.ok) return outboundFailure(request, answer);
  if (answer.status !== 304 || known === null) return pageOf(door.decoder, request, answer);
  const finalUrl = withFragmentOf(request.url, answer.finalUrl);
  if (finalUrl === known.finalUrl)
    return { ok: true, page: { ok: true, unchanged: true, finalUrl, headers: answer.headers } };
  // Somewhere else than where the page was: what is unchanged there is not the page that is known.
  return attemptOnce(door, request, null, deadline, signal);
}

function outboundFailure(request: PageRequest, failure: OutboundFailure): Failure {
  const reason = reasonOf[failure.reason];
  const givenUp = failure.reason === 'aborted';
  const mayRepeat = passingReasons.has(reason) && failure.reason !== 'redirect_refused' && !givenUp;
  return {
    ...failureOf(request, reason, failure.message),
    isDown: downReasons.has(reason) && !givenUp,
    network: failure.network ?? domainOf(request.url),
    mayRepeat: mayRepeat && !(failure.sent && unrepeatable.has(request.method.toUpperCase())),
  };
}

async function pageOf(decoder: Decoder, request: PageRequest, answer: OutboundAnswer): Promise<Attempt> {
  const { status, headers } = answer;
  const finalUrl = withFragmentOf(request.url, answer.finalUrl);
  if (!isAccepted(status, request.acceptStatus)) {
    const repeatable = unworkedStatuses.has(status) || !unrepeatable.has(request.method.toUpperCase());
    return {
      ...failureOf(request, 'http_status', statusMessage(status, request.followRedirects)),
      status,
      finalUrl,
      mayRepeat: passingStatuses.has(status) && repeatable,
      retryAfterMs: retryAfterMs(headers['retry-after'], Date.now()) ?? 0,
    };
  }
  const content = contentOf(headers['content-type'], answer.body);
  if (!content.ok) return { ...failureOf(request, 'bad_encoding', content.message), status, finalUrl };
  const text = await decoder.decode(answer.body, content.kind, content.charset);
  if (!text.ok) return { ...undecoded(request, text), status, finalUrl };
  return {
    ok: true,
    page: {
      ok: true,
      url: request.url,
      finalUrl,
      status,
      headers,
      contentKind: content.kind,
      encoding: text.encoding,
      body: text.body,
      contentHash: `sha256:${hash('sha256', text.body, 'hex')}`,
    },
  };
}

function undecoded(request: PageRequest, text: DecodedText & { readonly ok: false }): Failure {
  if ('maxBytes' in text) {
    return failureOf(request, 'too_large', `The page is larger than ${text.maxBytes} bytes once it is in UTF-8.`);
  }
  if ('message' in text) return failureOf(request, 'bad_encoding', `The page could not be decoded: ${text.message}`);
  const label = text.label.replace(/[^\x21-\x7e]/g, '?').slice(0, 40);
  return failureOf(request, 'bad_encoding', `The page is in an encoding that browsers refuse to read: ${label}`);
}

function failureOf(request: PageRequest, reason: LoadFailureReason, message: string): Failure {
  return {
    ok: false,
    reason,
    message,
    status: null,
    finalUrl: request.url,
    mayRepeat: false,
    isDown: false,
    network: '',
    retryAfterMs: 0,
  };
}

function headersOf(request: PageRequest): Readonly<Record<string, string>> {
  const headers: [string, string][] = [['accept', accept]];
  for (const [name, value] of Object.entries(request.headers)) {
    const lower = name.toLowerCase();
    if (lower === 'accept') headers[0] = ['accept', value];
    else if (lower !== 'user-agent' || request.userAgent === null) headers.push([lower, value]);
  }
  if (request.userAgent !== null) headers.push(['user-agent', request.userAgent]);
  return Object.fromEntries(headers);
}

/** The last two labels of the host: hosts below one domain go out of reach together where its name servers do. */
function domainOf(url: string): string {
  return hostOf(url).split('.').slice(-2).join('.');
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? url;
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
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}

function isAccepted(status: number, accepted: readonly string[]): boolean {
  const exact = String(status);
  const family = `${exact.slice(0, 1)}xx`;
  return accepted.some((entry) => entry === exact || entry.toLowerCase() === family);
}

function statusMessage(status: number, followsRedirects: boolean): string {
  const name = STATUS_CODES[status];
  const said = name === undefined ? String(status) : `${status} ${name}`;
  return status >= 300 && status < 400 && !followsRedirects
    ? `The server redirects (${said}), and redirects are not followed for this page.`
    : `The server answered ${said}, which is not among the accepted statuses.`;
}

/** A wait before the next attempt: between half and all of it, so that tasks that failed together do not come back together. */
function delayMs(retry: PageRequest['retry'], attempts: number, random: number): number {
  const full = retry.strategy === 'fixed' ? retry.baseMs : retry.baseMs * 2 ** (attempts - 1);
  return Math.min(full * (0.5 + random / 2), maxTimerMs);
}

/** The fragment of the task's address belongs to the page as the user sees it, wherever redirects went. */
function withFragmentOf(asked: string, final: string): string {
  const at = asked.indexOf('#');
  if (at === -1) return final;
  const url = new URL(final);
  url.hash = asked.slice(at);
  return url.href;
}
