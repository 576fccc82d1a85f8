/** What passes between the product, its evaluator process and the threads in there: jobs and results as text. */
import type { GuestImage } from '../guest/guest.js';
import type { CheckedCode, EvaluationJob, EvaluationResult, ScriptJob, ScriptResult } from '../sandbox.js';

export interface JobKinds {
  readonly check: { readonly job: { readonly codes: readonly string[] }; readonly result: readonly CheckedCode[] };
  readonly evaluate: { readonly job: EvaluationJob; readonly result: EvaluationResult };
  readonly script: { readonly job: ScriptJob; readonly result: ScriptResult };
}
export type JobKind = keyof JobKinds;
/** In the order of their numbers in a frame. */
export const jobKinds = ['check', 'evaluate', 'script'] as const satisfies readonly JobKind[];

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

/** Whoever runs jobs. Never rejects for what a job does; `isUrgent` puts it before all that wait. */
export interface JobRunner {
  run<Kind extends JobKind>(
    kind: Kind,
    job: JobKinds[Kind]['job'],
    options: { readonly cpuMs: number; readonly isUrgent: boolean },
  ): Promise<JobOutcome<Kind>>;
}

/** A job as it travels: read by nobody before the thread that runs it. */
export interface EncodedJob {
  readonly kind: JobKind;
  readonly text: string;
  /** The page; empty where there is none. */
  readonly body: Uint8Array;
}

const noBody = new Uint8Array(0);

export function encodeJob<Kind extends JobKind>(kind: Kind, job: JobKinds[Kind]['job']): EncodedJob {
  if (!('page' in job)) return { kind, text: JSON.stringify(job), body: noBody };
  const { body, ...page } = job.page;
  return { kind, text: JSON.stringify({ ...job, page }), body };
}

export type DecodedJob = {
  readonly [kind in JobKind]: { readonly kind: kind; readonly job: JobKinds[kind]['job'] };
}[JobKind];

/** What `encodeJob` made: it comes from the product, which is trusted. */
export function decodeJob({ kind, text, body }: EncodedJob): DecodedJob {
  const job = JSON.parse(text) as JobKinds[JobKind]['job'];
  if ('page' in job) return { kind, job: { ...job, page: { ...job.page, body } } } as DecodedJob;
  return { kind, job } as DecodedJob;
}

/** `broken` asks for this worker's end: something failed that no job should be able to bring about. */
export type WorkerReply =
  /** `image` where it was not given one: threads that start later are. */
  | { readonly kind: 'ready'; readonly image: GuestImage | null }
  | { readonly kind: 'result'; readonly text: string }
  | { readonly kind: 'broken'; readonly message: string };

export interface WorkerSettings {
  readonly wasmModule: WebAssembly.Module;
  /** null: pages are parsed by parse5. */
  readonly lexborModule: WebAssembly.Module | null;
  readonly image: GuestImage | null;
  /** Words shared with the pool: what the worker does, since when (ms after `epochMs`), and the thread's CPU time then. */
  readonly progress: SharedArrayBuffer;
  readonly epochMs: number;
}

export const progressWords = { phase: 0, sinceMs: 1, cpuMs: 2 } as const;
/** `concluding`: the code's time is over, and the guest writes down what it has. */
export const phases = { idle: 0, parsing: 1, running: 2, concluding: 3 } as const;
/** For that it has this long. */
export const concludeMs = 100;

/** What the evaluator process is told at its start, on its command line. */
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

/** Frames of no job (id 0): the evaluator is ready, the product asks whether it lives, the evaluator does. */
export const signals = { ready: 1, ping: 2, pong: 3 } as const;
/** Added to the number of a job's kind. */
export const urgentMark = 16;

/** What one message may hold at most. A page is 50 MB at most, its text may come along as the previous one. */
export const largestRequestBytes = 192 * 1024 * 1024;
/** An answer holds what a run may log, report and keep; escaping may make six of one byte. */
export const largestAnswerBytes = 16 * 1024 * 1024;
