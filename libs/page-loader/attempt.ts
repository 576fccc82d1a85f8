/** One attempt to load a page: the request that goes out, and what its answer means. */
import { hash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { retryAfterMs } from '#concurrency/retry-after';
import type { Outbound, OutboundAnswer, OutboundFailure, OutboundFailureReason } from '#outbound/outbound';
import { contentOf } from './content.js';
import type { DecodedText, Decoder } from './decoder.js';
import type { Refusal } from './origin-limiter.js';
import type { KnownPage, LoadedPage, LoadFailureReason, PageRequest, UnchangedPage } from './page-loader.js';

const maxRedirects = 5;
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.8';
/** Answers that a later attempt may better. */
const passingStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Answers that say the request was not worked on, so that any method may be sent again. */
const unworkedStatuses = new Set([425, 429, 503]);
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

export const reasonOf: Readonly<Record<OutboundFailureReason, LoadFailureReason>> = {
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

export interface AttemptFailure {
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
export type Attempt =
  { readonly ok: true; readonly page: Omit<LoadedPage, Measured> | Omit<UnchangedPage, Measured> } | AttemptFailure;

/** Headers that ask for a page only if it has changed, and where it was. */
export interface Asked {
  readonly finalUrl: string;
  readonly validators: Readonly<Record<string, string>>;
}

/** A tag as servers write it; one that is anything else is not sent back. */
const tagShape = /^[\x21-\x7e\x80-\xff]{1,256}$/;

/** null: the server gave nothing to ask with, or the request asks so itself. */
export function knownTo({ method, headers }: PageRequest, { etag, lastModified, finalUrl }: KnownPage): Asked | null {
  if (method !== 'GET' || Object.keys(headers).some((name) => /^(if-|range$)/i.test(name))) return null;
  const isDate = lastModified !== null && lastModified.length < 64 && !Number.isNaN(Date.parse(lastModified));
  const validators = {
    ...(etag !== null && tagShape.test(etag) ? { 'if-none-match': etag } : {}),
    ...(isDate ? { 'if-modified-since': lastModified } : {}),
  };
  return Object.keys(validators).length === 0 ? null : { finalUrl, validators };
}

/** What a page comes in through. */
export interface Door {
  readonly outbound: Outbound;
  readonly decoder: Decoder;
}

export async function attemptOnce(
  door: Door,
  request: PageRequest,
  known: Asked | null,
  deadline: number,
  signal: AbortSignal,
  beforeBody?: () => Promise<void> | null,
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
    ...(request.trust === undefined ? {} : { trust: request.trust }),
    ...(beforeBody === undefined ? {} : { beforeBody }),
    signal,
  });
  if (!answer.ok) return outboundFailure(request, answer);
  if (answer.status !== 304 || known === null) return pageOf(door.decoder, request, answer);
  const finalUrl = withFragmentOf(request.url, answer.finalUrl);
  if (finalUrl === known.finalUrl)
    return {
      ok: true,
      page: { ok: true, unchanged: true, finalUrl, headers: answer.headers, certificate: answer.certificate ?? null },
    };
  // Somewhere else than where the page was: what is unchanged there is not the page that is known.
  return attemptOnce(door, request, null, deadline, signal, beforeBody);
}

function outboundFailure(request: PageRequest, failure: OutboundFailure): AttemptFailure {
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
      certificate: answer.certificate ?? null,
      encoding: text.encoding,
      body: text.body,
      contentHash: `sha256:${hash('sha256', text.body, 'hex')}`,
    },
  };
}

function undecoded(request: PageRequest, text: DecodedText & { readonly ok: false }): AttemptFailure {
  if ('maxBytes' in text) {
    return failureOf(request, 'too_large', `The page is larger than ${text.maxBytes} bytes once it is in UTF-8.`);
  }
  if ('message' in text) return failureOf(request, 'bad_encoding', `The page could not be decoded: ${text.message}`);
  const label = text.label.replace(/[^\x21-\x7e]/g, '?').slice(0, 40);
  return failureOf(request, 'bad_encoding', `The page is in an encoding that browsers refuse to read: ${label}`);
}

export function failureOf(request: PageRequest, reason: LoadFailureReason, message: string): AttemptFailure {
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

export function isAccepted(status: number, accepted: readonly string[]): boolean {
  const exact = String(status);
  const family = `${exact.slice(0, 1)}xx`;
  return accepted.some((entry) => entry === exact || entry.toLowerCase() === family);
}

export function statusMessage(status: number, followsRedirects: boolean): string {
  const name = STATUS_CODES[status];
  const said = name === undefined ? String(status) : `${status} ${name}`;
  return status >= 300 && status < 400 && !followsRedirects
    ? `The server redirects (${said}), and redirects are not followed for this page.`
    : `The server answered ${said}, which is not among the accepted statuses.`;
}

/** The fragment of the task's address belongs to the page as the user sees it, wherever redirects went. */
export function withFragmentOf(asked: string, final: string): string {
  const at = asked.indexOf('#');
  if (at === -1) return final;
  const url = new URL(final);
  url.hash = asked.slice(at);
  return url.href;
}

export function refusedBy(request: PageRequest, { reason, message, status }: Refusal): AttemptFailure {
  return { ...failureOf(request, reason, message), status };
}

/** The last two labels of the host: hosts below one domain go out of reach together where its name servers do. */
function domainOf(url: string): string {
  const host = URL.parse(url)?.hostname ?? url;
  return host.split('.').slice(-2).join('.');
}
