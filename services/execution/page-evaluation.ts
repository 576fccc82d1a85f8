/** What a recorded check, a replay and a test of a page share: settings in, an evaluation out. A failure is a value with a reason. */
import type { FetchSettings } from '#contracts/fetch';
import type { RunError, RunResult, RunStatus } from '#contracts/run';
import type { LoadedPage, LoadFailure, PageLoader, PageRequest } from '#page-loader/page-loader';
import type { JsonObject } from '#runtime/json';
import type { EvaluationResult, Sandbox, SandboxLimits } from '#sandbox/sandbox';
import type { Vault } from '#vault/vault';

export interface EvaluationDeps {
  readonly pageLoader: PageLoader;
  readonly sandbox: Sandbox;
  readonly vault: Vault;
  readonly limits: SandboxLimits;
}

export type Evaluated = Pick<RunResult, 'status' | 'outcome' | 'values' | 'logs' | 'error' | 'page'> & {
  readonly timings: Pick<RunResult['timings'], 'fetchMs' | 'parseMs' | 'evaluateMs'>;
  /** `page.state` after the run; null: the old one stays. */
  readonly state: JsonObject | null;
  /** The thread or process that ran it had to be ended. */
  readonly endedFromOutside: boolean;
};

export function toPageRequest(url: string, settings: FetchSettings): PageRequest {
  const { mode, method, headers, body, timeoutSeconds, maxBytes, followRedirects, acceptStatus, userAgent } = settings;
  return {
    url,
    mode,
    method,
    headers,
    body,
    timeoutMs: timeoutSeconds * 1_000,
    maxBytes,
    followRedirects,
    acceptStatus,
    userAgent,
    proxyUrl: settings.proxy,
    retry: {
      attempts: settings.retry.attempts,
      strategy: settings.retry.strategy,
      baseMs: settings.retry.baseSeconds * 1_000,
    },
  };
}

export function failedLoad(failure: LoadFailure): Evaluated {
  const status: RunStatus = failure.reason === 'timed_out' ? 'timed_out' : 'failed';
  return {
    status,
    outcome: null,
    values: {},
    logs: [],
    error: { reason: failure.reason, message: failure.message },
    page: { finalUrl: failure.finalUrl, status: failure.status, bytes: 0, contentHash: null, fromCache: false },
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

/** What an evaluation keeps of its page. */
type EvaluatedPage = Pick<LoadedPage, 'finalUrl' | 'status' | 'contentHash' | 'fetchMs'> & { readonly bytes: number };

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
