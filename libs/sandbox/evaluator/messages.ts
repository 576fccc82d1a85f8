/** Messages between the product, its evaluator process and the threads inside it: jobs and results as text. */
import type { GuestImage } from '../guest/guest.js';
import type {
  CheckedCode,
  CodeVisit,
  EvaluationBatch,
  EvaluationJob,
  EvaluationResult,
  ScriptJob,
  ScriptResult,
} from '../sandbox.js';

export interface JobKinds {
  readonly check: { readonly job: { readonly codes: readonly string[] }; readonly result: readonly CheckedCode[] };
  readonly evaluate: { readonly job: EvaluationJob; readonly result: EvaluationResult };
  readonly script: { readonly job: ScriptJob; readonly result: ScriptResult };
  /** Of the first pages, one at least: a batch takes no thread for longer than `batchMs` and one evaluation. */
  readonly evaluateAll: { readonly job: EvaluationBatch; readonly result: readonly EvaluationResult[] };
}
export type JobKind = keyof JobKinds;
/** In the order of their numbers in a frame. */
export const jobKinds = ['check', 'evaluate', 'script', 'evaluateAll'] as const satisfies readonly JobKind[];

/** Why a job was ended from outside, or could not run. In the order of their numbers in a frame, 0 being a result. */
export const endings = ['parse_time', 'cpu_time', 'parse_memory', 'memory', 'unavailable', 'crashed'] as const;
export type Ended = (typeof endings)[number];
export interface Ending {
  readonly ok: false;
  readonly ended: Ended;
  readonly message?: string;
}
export type JobOutcome<Kind extends JobKind> =
  { readonly ok: true; readonly result: JobKinds[Kind]['result'] } | Ending;
export type TextOutcome = { readonly ok: true; readonly text: string } | Ending;

/** Runs jobs. Never rejects for what a job does; `isUrgent` puts a job before all that wait, `isLong` is one that took long before. */
export interface JobRunner {
  run<Kind extends JobKind>(
    kind: Kind,
    job: JobKinds[Kind]['job'],
    options: { readonly cpuMs: number; readonly isUrgent: boolean; readonly isLong?: boolean },
  ): Promise<JobOutcome<Kind>>;
}

/** A job in transit: only the thread that runs it decodes it. */
export interface EncodedJob {
  readonly kind: JobKind;
  readonly text: string;
  /** The page, or the pages one after the other; empty where there is none. */
  readonly body: Uint8Array;
}

const noBody = new Uint8Array(0);

export function encodeJob<Kind extends JobKind>(kind: Kind, job: JobKinds[Kind]['job']): EncodedJob {
  if ('visits' in job) return encodeBatch(kind, job);
  if (!('page' in job)) return { kind, text: JSON.stringify(job), body: noBody };
  const { body, ...page } = job.page;
  return { kind, text: JSON.stringify({ ...job, page }), body };
}

function encodeBatch(kind: JobKind, { visits, ...shared }: EvaluationBatch): EncodedJob {
  const told = visits.map(({ page: { body, ...page }, ...visit }) => ({ ...visit, page, bytes: body.byteLength }));
  return {
    kind,
    text: JSON.stringify({ ...shared, visits: told }),
    body: Buffer.concat(visits.map(({ page }) => page.body)),
  };
}

export type DecodedJob = {
  readonly [kind in JobKind]: { readonly kind: kind; readonly job: JobKinds[kind]['job'] };
}[JobKind];

/** What `encodeJob` made: it comes from the product, which is trusted. */
export function decodeJob({ kind, text, body }: EncodedJob): DecodedJob {
  const job = JSON.parse(text) as JobKinds[JobKind]['job'];
  if ('page' in job) return { kind, job: { ...job, page: { ...job.page, body } } } as DecodedJob;
  if ('visits' in job) {
    let at = 0;
    const visits = (job.visits as readonly (CodeVisit & { readonly bytes: number })[]).map(
      ({ bytes, page, ...visit }) => {
        at += bytes;
        return { ...visit, page: { ...page, body: body.subarray(at - bytes, at) } };
      },
    );
    return { kind, job: { ...job, visits } } as DecodedJob;
  }
  return { kind, job } as DecodedJob;
}

/** `broken` asks to end this worker: something failed that no job should be able to cause. */
export type WorkerReply =
  /** `image` unless the worker was started with one; later threads are. */
  | { readonly kind: 'ready'; readonly image: GuestImage | null }
  | { readonly kind: 'result'; readonly text: string }
  | { readonly kind: 'broken'; readonly message: string };

export interface WorkerSettings {
  readonly wasmModule: WebAssembly.Module;
  /** null: pages are parsed by parse5. */
  readonly lexborModule: WebAssembly.Module | null;
  readonly image: GuestImage | null;
  /** Words shared with the pool: the worker's phase, its start (ms after `epochMs`), and the thread's CPU time at that moment. */
  readonly progress: SharedArrayBuffer;
  readonly epochMs: number;
}

export const progressWords = { phase: 0, sinceMs: 1, cpuMs: 2 } as const;
/** `concluding`: the code's time is over, and the guest serializes what it has. */
export const phases = { idle: 0, parsing: 1, running: 2, concluding: 3 } as const;
/** After so long on the clock a batch begins no further evaluation: what waits behind it waits hardly longer. */
export const batchMs = 50;
/** Time for `concluding`. */
export const concludeMs = 100;

/** Wall time that a job may take at most, as a multiple of its CPU budget, on a machine that is busy elsewhere. */
export const wallFactor = 10;
/** Of a failure's message and of its hint, characters. */
export const longestMessage = 4_096;

/** Settings of the evaluator process, passed on its command line. */
export interface EvaluatorSettings {
  /** Threads that run jobs side by side. */
  readonly workers: number;
  /** Threads kept ready, or used where all others are busy with long jobs. */
  readonly spareWorkers: number;
  readonly idleMs: number;
  /** Time over its budget after which a job is ended from outside. */
  readonly graceMs: number;
  readonly parseMs: number;
  readonly quickjsPath: string;
  /** What `npm run build:parser` made; null: pages are parsed by parse5. */
  readonly lexborPath: string | null;
}

/** Frames of no job (id 0): the evaluator is ready, the product pings, the evaluator answers, and starts its threads ahead of any job. */
export const signals = { ready: 1, ping: 2, pong: 3, warmUp: 4 } as const;
/** Added to the number of a job's kind. */
export const urgentMark = 16;

/** Most bytes of one message. A page has 50 MB at most, and the text of the previous page may come with it. */
export const largestRequestBytes = 192 * 1024 * 1024;
/** An answer holds what a run may log, report and store; escaping may make six bytes of one. */
export const largestAnswerBytes = 16 * 1024 * 1024;
