/** What a recorded check, a replay and a test of a page share: settings in, an evaluation out. A failure is a value with a reason. */
import type { z } from 'zod';
import { fetchSettings, type browserStep, type FetchSettings } from '#contracts/fetch';
import type { RunError, RunResult, RunStatus } from '#contracts/run';
import { isScriptShell, largestShell, shellHint } from '#hints/script-shell';
import type { LoadedPage, LoadFailure, PageLoader, PageRequest, PageStep, Rendering } from '#page-loader/page-loader';
import type { JsonObject } from '#runtime/json';
import type { EvaluationResult, Sandbox, SandboxLimits } from '#sandbox/sandbox';
import type { Vault } from '#vault/vault';

export interface EvaluationDeps {
  readonly pageLoader: PageLoader;
  readonly sandbox: Sandbox;
  readonly vault: Vault;
  readonly limits: SandboxLimits;
}

export type Evaluated = Pick<RunResult, 'status' | 'outcome' | 'values' | 'logs' | 'error' | 'page' | 'hint'> & {
  readonly timings: Pick<RunResult['timings'], 'fetchMs' | 'parseMs' | 'evaluateMs'>;
  /** `page.state` after the run; null: the old one stays. */
  readonly state: JsonObject | null;
  /** The thread or process that ran it had to be ended. */
  readonly endedFromOutside: boolean;
};

/** What a body is, where its author did not say; by its first letters, since it may be large. */
function contentTypeOf(body: string): string {
  const text = body.trim();
  if (/^[[{]/.test(text) && isJson(text)) return 'application/json';
  const isForm = /^[^\s=&<>"{}]+=[^\s=&]*(?:&[^\s=&<>"{}]+=[^\s=&]*)*$/.test(text);
  return isForm ? 'application/x-www-form-urlencoded' : 'text/plain; charset=utf-8';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The headers as given, with what follows from the other settings. */
function headersOf({ headers, auth, body }: FetchSettings): FetchSettings['headers'] {
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const pair = (auth ?? null) === null ? null : Buffer.from(`${auth?.username}:${auth?.password}`).toString('base64');
  return {
    ...headers,
    ...(body === null || isGiven ? {} : { 'content-type': contentTypeOf(body) }),
    ...(pair === null ? {} : { authorization: `Basic ${pair}` }),
  };
}

function trustOf({ tls }: FetchSettings): Pick<PageRequest, 'trust'> {
  const { ca, fingerprint } = tls ?? {};
  if (ca === undefined && fingerprint === undefined) return {};
  return { trust: { ...(ca === undefined ? {} : { ca }), ...(fingerprint === undefined ? {} : { fingerprint }) } };
}

function stepOf({ do: what, selector, value, secret }: z.infer<typeof browserStep>): PageStep {
  switch (what) {
    case 'goto':
      return { do: 'goto', value: value ?? '' };
    case 'click':
      return { do: 'click', selector: selector ?? '' };
    case 'fill':
    case 'select':
      return { do: what, selector: selector ?? '', value: value ?? '', isSecret: what === 'fill' && secret !== false };
    case 'press':
      return { do: 'press', selector: selector ?? null, value: value ?? '' };
    case 'wait':
      return { do: 'wait', selector: selector ?? null, value: value ?? null };
  }
}

/** `owner`: the organisation. */
function renderOf(settings: FetchSettings, owner: string, session: string | null): Pick<PageRequest, 'render'> {
  if (settings.mode !== 'browser') return {};
  const { browser = fetchSettings.shape.browser.unwrap().parse({}) } = settings;
  const { waitFor, waitSeconds, viewport, steps, block, screenshot, keepSession } = browser;
  const render = { owner, waitFor, waitMs: waitSeconds * 1_000, viewport, steps: steps.map(stepOf), block };
  const kept = keepSession ? { session } : {};
  return { render: { ...render, ...kept, takesScreenshot: screenshot !== 'never', boxAttribute: null } };
}

/** `session`: of the last visit, where the task keeps it. */
export function toPageRequest(
  url: string,
  settings: FetchSettings,
  owner: string,
  session: string | null = null,
): PageRequest {
  const { mode, method, body, timeoutSeconds, maxBytes, followRedirects, acceptStatus, userAgent } = settings;
  return {
    url,
    mode,
    ...renderOf(settings, owner, session),
    method,
    headers: headersOf(settings),
    body,
    timeoutMs: timeoutSeconds * 1_000,
    maxBytes,
    followRedirects,
    acceptStatus,
    userAgent,
    proxyUrl: settings.proxy,
    ...trustOf(settings),
    retry: {
      attempts: settings.retry.attempts,
      strategy: settings.retry.strategy,
      baseMs: settings.retry.baseSeconds * 1_000,
    },
  };
}

const signInHint =
  'fetch.auth sends a user name and a password, fetch.headers a key or a cookie. fetch.acceptStatus takes the answer as it is.';

/** A status that asks for a login says so, beside the statuses that would be taken. */
function hintOf({ reason, status }: LoadFailure): { readonly hint?: string } {
  if (reason !== 'http_status') return {};
  if (status === 401) return { hint: `The page asks who you are: ${signInHint}` };
  if (status !== 403) return {};
  return { hint: `The page is not for everybody, or for no programs (fetch.userAgent): ${signInHint}` };
}

export function refusedIn({
  rendering,
}: {
  readonly rendering?: Rendering | undefined;
}): Pick<NonNullable<RunResult['page']>, 'refused'> {
  return rendering === undefined || rendering.refused.length === 0 ? {} : { refused: [...rendering.refused] };
}

/** For the code: `page.visible` answers on a page that a browser rendered. */
export function renderedFlag(rendering: Rendering | undefined): { readonly rendered?: true } {
  return rendering === undefined ? {} : { rendered: true };
}

export function failedLoad(failure: LoadFailure): Evaluated {
  const status: RunStatus = failure.reason === 'timed_out' ? 'timed_out' : 'failed';
  return {
    status,
    outcome: null,
    values: {},
    logs: [],
    error: { reason: failure.reason, message: failure.message, ...hintOf(failure) },
    page: {
      finalUrl: failure.finalUrl,
      status: failure.status,
      bytes: 0,
      contentHash: null,
      fromCache: false,
      ...refusedIn(failure),
    },
    timings: { fetchMs: Math.round(failure.fetchMs), parseMs: 0, evaluateMs: 0 },
    state: null,
    endedFromOutside: false,
  };
}

function errorOf(result: EvaluationResult): RunError | null {
  if (result.ok) return null;
  const { endedFromOutside: _endedFromOutside, ...error } = result.failure;
  return error;
}

/** More bytes than a shell has, whatever its letters: not worth the decoding. */
const moreThanAShell = 3 * largestShell;

/** Why code may have found nothing: to be asked where it failed, or answered false. */
function isShell({ contentKind, body }: Pick<LoadedPage, 'contentKind' | 'body'>): boolean {
  return contentKind === 'html' && body.byteLength <= moreThanAShell && isScriptShell(new TextDecoder().decode(body));
}

/** Code that answers false on a page that is empty without its scripts may never have seen what it looks for. */
export function falseOnShell(
  outcome: boolean | null,
  page: Pick<LoadedPage, 'contentKind' | 'body'>,
): { readonly hint?: string } {
  return outcome === false && isShell(page) ? { hint: shellHint } : {};
}

const foundNothing: ReadonlySet<string> = new Set(['threw', 'number_not_found', 'not_a_number', 'not_boolean']);

/** A failure on a page that is empty without its scripts says so. */
export function withShellHint(
  result: EvaluationResult,
  page: Pick<LoadedPage, 'contentKind' | 'body'>,
): EvaluationResult {
  if (result.ok || !foundNothing.has(result.failure.reason) || !isShell(page)) return result;
  const { hint } = result.failure;
  return { ...result, failure: { ...result.failure, hint: hint === undefined ? shellHint : `${hint} ${shellHint}` } };
}

/** What an evaluation keeps of its page. */
type EvaluatedPage = Pick<LoadedPage, 'finalUrl' | 'status' | 'contentHash' | 'fetchMs' | 'rendering'> & {
  readonly bytes: number;
};

export function evaluated(page: EvaluatedPage, result: EvaluationResult): Evaluated {
  return {
    status: result.ok ? 'succeeded' : 'failed',
    outcome: result.ok ? result.outcome : null,
    values: result.values,
    logs: [...result.logs],
    error: errorOf(result),
    page: {
      finalUrl: page.finalUrl,
      status: page.status,
      bytes: page.bytes,
      contentHash: page.contentHash,
      fromCache: false,
      ...refusedIn(page),
    },
    timings: {
      fetchMs: Math.round(page.fetchMs),
      parseMs: Math.round(result.timings.parseMs),
      evaluateMs: Math.round(result.timings.evaluateMs),
    },
    state: result.ok ? result.state : null,
    endedFromOutside: !result.ok && result.failure.endedFromOutside === true,
  };
}
