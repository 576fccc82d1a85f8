/** What is asked of the thread where pages are loaded, and the parts on this side that ask. */
import type { Transferable } from 'node:worker_threads';
import { createThreadCalls, type ErrorCarrier, type ThreadCalls } from '#concurrency/thread-calls';
import type { KnownPage, PageLoader, PageRequest } from '#page-loader/page-loader';
import type { Config } from '#runtime/config';
import { AppError, unavailable, type ErrorCode, type ErrorDetail } from '#runtime/errors';
import type {
  CheckedCode,
  EvaluationBatch,
  EvaluationJob,
  EvaluationResult,
  Sandbox,
  ScriptJob,
  ScriptResult,
} from '#sandbox/sandbox';
import type { KeptPage, OlderSnapshots, Snapshot, Snapshots } from '#snapshots/snapshots';
import type { Checks } from '../execution/checks.js';
import type { CheckResult, OpenedCheck } from '../execution/run-check.js';

export interface PageThreadData {
  readonly config: Config;
  readonly snapshotKeys: readonly Uint8Array[];
}

type SentRequest = Omit<PageRequest, 'signal' | 'slot' | 'waitSignal'>;
type Loaded = ReturnType<PageLoader['loadIfChanged']>;

/** Argument and answer of each. */
export interface PageCalls {
  readonly check: [OpenedCheck, CheckResult];
  readonly load: [SentRequest, Awaited<ReturnType<PageLoader['load']>>];
  readonly loadIfChanged: [{ readonly request: SentRequest; readonly known: KnownPage }, Awaited<Loaded>];
  readonly checkCode: [string, CheckedCode];
  readonly evaluate: [EvaluationJob, EvaluationResult];
  readonly evaluateAll: [EvaluationBatch, readonly EvaluationResult[]];
  readonly runScript: [ScriptJob, ScriptResult];
  readonly saveSnapshot: [{ readonly snapshot: Snapshot; readonly body: Uint8Array }, void];
  readonly listSnapshots: [{ readonly taskId: string; readonly limit: number }, readonly Snapshot[]];
  readonly readSnapshot: [{ readonly taskId: string; readonly id: string }, KeptPage | null];
  readonly forgetSnapshots: [{ readonly taskId: string; readonly older?: OlderSnapshots | undefined }, void];
  readonly sweepSnapshots: [number, number];
  readonly close: [null, void];
}

export type PageMethods = {
  readonly [Method in keyof PageCalls]: (
    argument: PageCalls[Method][0],
    signal: AbortSignal,
  ) => Promise<PageCalls[Method][1]>;
};

interface PackedError {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterSeconds?: number;
}

export const callErrors: ErrorCarrier = {
  pack(error) {
    if (!(error instanceof AppError)) return null;
    const { code, reason, message, details, retryAfterSeconds } = error;
    return { code, reason, message, details, retryAfterSeconds };
  },
  unpack(packed) {
    const { code, reason, message, ...more } = packed as PackedError;
    return new AppError(code, reason, message, more);
  },
};

/** A body that stands alone in its memory goes over without a copy. */
export function movedOf(answer: unknown): readonly Transferable[] {
  const body = typeof answer === 'object' && answer !== null && 'body' in answer ? answer.body : null;
  if (!(body instanceof Uint8Array) || !(body.buffer instanceof ArrayBuffer)) return [];
  return body.byteLength === body.buffer.byteLength ? [body.buffer] : [];
}

export interface PageThread {
  readonly checks: Checks;
  readonly pageLoader: PageLoader;
  readonly sandbox: Sandbox;
  readonly snapshots: Snapshots;
  close(): Promise<void>;
}

function sent({ signal: _signal, slot: _slot, waitSignal: _waitSignal, ...request }: PageRequest): SentRequest {
  return request;
}

/** What it makes for one check is soon gone: a larger nursery would only be swept later. */
const youngMb = 24;

/** The parts that the thread stands for. It begins with the first call: a process that checks nothing has none. */
export function createPageThread(
  script: URL,
  config: Config,
  snapshotKeys: PageThreadData['snapshotKeys'],
): PageThread {
  const calls: ThreadCalls = createThreadCalls({
    script,
    // What it does not need it is not told.
    workerData: { config: { ...config, secretKey: null, owner: null }, snapshotKeys } satisfies PageThreadData,
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
    errors: callErrors,
    onEnd: (why) => unavailable('page_thread_ended', `The thread that loads pages ended (${why}); it begins anew.`),
  });
  const ask = <Method extends keyof PageCalls>(
    method: Method,
    argument: PageCalls[Method][0],
    signal?: AbortSignal,
  ): Promise<PageCalls[Method][1]> =>
    calls.call(method, argument, signal === undefined ? {} : { signal }) as Promise<PageCalls[Method][1]>;
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    if (calls.isRunning) await ask('close', null);
    await calls.stop();
  };
  return {
    checks: { run: (check, stopping) => ask('check', check, stopping) },
    pageLoader: {
      load: (request) => ask('load', sent(request), request.signal),
      loadIfChanged: (request, known) => ask('loadIfChanged', { request: sent(request), known }, request.signal),
      close,
    },
    sandbox: {
      check: (code) => ask('checkCode', code),
      evaluate: (job) => ask('evaluate', job),
      evaluateAll: (batch) => ask('evaluateAll', batch),
      runScript: (job) => ask('runScript', job),
      close,
    },
    snapshots: {
      save: (snapshot, body) => ask('saveSnapshot', { snapshot, body }),
      list: (taskId, limit) => ask('listSnapshots', { taskId, limit }),
      read: (taskId, id) => ask('readSnapshot', { taskId, id }),
      forget: (taskId, older) => ask('forgetSnapshots', { taskId, older }),
      sweep: (nowMs) => ask('sweepSnapshots', nowMs),
      close,
    },
    close,
  };
}
