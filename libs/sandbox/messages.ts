/** What passes between the pool and a worker. */
import type { CheckedCode, EvaluationJob, EvaluationResult, ScriptJob, ScriptResult } from './sandbox.js';

export interface JobKinds {
  readonly check: { readonly job: { readonly codes: readonly string[] }; readonly result: readonly CheckedCode[] };
  readonly evaluate: { readonly job: EvaluationJob; readonly result: EvaluationResult };
  readonly script: { readonly job: ScriptJob; readonly result: ScriptResult };
}
export type JobKind = keyof JobKinds;

export type WorkerRequest = {
  readonly [kind in JobKind]: { readonly kind: kind; readonly job: JobKinds[kind]['job'] };
}[JobKind];

/** `broken` asks for this worker's end: something failed that no job should be able to bring about. */
export type WorkerReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly result: JobKinds[JobKind]['result'] }
  | { readonly kind: 'broken'; readonly message: string };

export interface WorkerSettings {
  readonly wasmModule: WebAssembly.Module;
  /** null: pages are parsed by parse5. */
  readonly lexborModule: WebAssembly.Module | null;
  /** Words shared with the pool: what the worker does, since when (ms after `epochMs`), and the thread's CPU time then. */
  readonly progress: SharedArrayBuffer;
  readonly epochMs: number;
}

export const progressWords = { phase: 0, sinceMs: 1, cpuMs: 2 } as const;
export const phases = { idle: 0, parsing: 1, running: 2 } as const;
