/** The sandbox over QuickJS in WebAssembly, in threads that can be ended. Loads nothing until the first job. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { lexborUrl } from './lexbor-place.js';
import { defaultPageLimits } from './page-parser.js';
import type { PageParserName } from './page-parser.js';
import type { EvaluationJob, EvaluationResult, Sandbox, SandboxFailure, ScriptJob, ScriptResult } from './sandbox.js';
import { CheckBatches } from './check-batches.js';
import { WorkerPool } from './worker-pool.js';
import type { Ended } from './worker-pool.js';

export interface QuickJsSandboxOptions {
  /** Threads that run jobs side by side; by default one per core. */
  readonly workers?: number;
  /** Threads more, for when all are busy with long jobs. */
  readonly spareWorkers?: number;
  /** After this long without a job a thread is let go. */
  readonly idleMs?: number;
  /** By default parse5, which is always there. */
  readonly pageParser?: PageParserName;
}

const graceMs = 50;

const failures: Readonly<Record<Ended, SandboxFailure>> = {
  parse_time: {
    reason: 'page_too_complex',
    message: `The page takes more than ${defaultPageLimits.parseMs} ms to parse.`,
  },
  parse_memory: { reason: 'page_too_complex', message: 'The page takes more memory to parse than is allowed.' },
  cpu_time: { reason: 'cpu_limit', message: 'The code used more CPU time than its limit allows.' },
  memory: { reason: 'memory_limit', message: 'The code used more memory than its limit allows.' },
  unavailable: { reason: 'sandbox_unavailable', message: 'The sandbox was closed or could not be started.' },
};

function failureOf(outcome: { readonly ended: Ended; readonly message?: string }): SandboxFailure {
  const failure = failures[outcome.ended];
  if (outcome.ended !== 'unavailable' || outcome.message === undefined) return failure;
  return { ...failure, message: `The sandbox broke down: ${outcome.message}` };
}

/**
 * Threads need compiled JavaScript. In the product this file and the worker lie side by side in `dist`; under a test
 * runner this file is compiled in memory, and the worker is the one that `npm run build` made.
 */
function workerUrl(): URL {
  const beside = new URL('./worker.js', import.meta.url);
  return existsSync(beside) ? beside : new URL('../../dist/libs/sandbox/worker.js', import.meta.url);
}

export function createQuickJsSandbox(options: QuickJsSandboxOptions = {}): Sandbox {
  const pool = new WorkerPool({
    workerUrl: workerUrl(),
    workers: options.workers ?? availableParallelism(),
    spareWorkers: options.spareWorkers ?? 1,
    idleMs: options.idleMs ?? 60_000,
    graceMs,
    parseMs: defaultPageLimits.parseMs,
    lexborUrl: options.pageParser === 'lexbor' ? lexborUrl() : null,
  });
  const checks = new CheckBatches(pool);
  return {
    check: (code) => checks.check(code),

    async evaluate(job: EvaluationJob): Promise<EvaluationResult> {
      // A copy of exactly the body: a view would drag its whole buffer through the message.
      const body = new Uint8Array(job.page.body);
      const copy: EvaluationJob = { ...job, page: { ...job.page, body } };
      const startedMs = performance.now();
      const transfer = [body.buffer];
      const outcome = await pool.run('evaluate', copy, { cpuMs: job.limits.cpuMs, isUrgent: false, transfer });
      if (outcome.ok) return outcome.result;
      const spentMs = performance.now() - startedMs;
      const isParsing = outcome.ended === 'parse_time' || outcome.ended === 'parse_memory';
      const timings = { parseMs: isParsing ? spentMs : 0, evaluateMs: isParsing ? 0 : spentMs };
      return { ok: false, values: {}, logs: [], timings, failure: failureOf(outcome) };
    },

    async runScript(job: ScriptJob): Promise<ScriptResult> {
      const outcome = await pool.run('script', job, { cpuMs: job.limits.cpuMs, isUrgent: false, transfer: [] });
      return outcome.ok ? outcome.result : { ok: false, logs: [], failure: failureOf(outcome) };
    },

    close: () => pool.close(),
  };
}
