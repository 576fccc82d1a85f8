/** The sandbox over QuickJS in WebAssembly, in a process of its own. Starts nothing until the first job. */
import { CheckBatches } from './evaluator/check-batches.js';
import { connectEvaluator } from './evaluator/connected-evaluator.js';
import { evaluatorFiles, usualSettings } from './evaluator/evaluator-place.js';
import { EvaluatorSupervisor } from './evaluator/evaluator-supervisor.js';
import type { RunningProcess } from './evaluator/evaluator-supervisor.js';
import { machineIsolation } from './evaluator/isolation.js';
import { spawnEvaluator } from './evaluator/spawned-evaluator.js';
import type { Ended, Ending } from './evaluator/messages.js';
import { defaultPageLimits } from './parsers/page-parser.js';
import type { PageParserName } from './parsers/page-parser.js';
import type { EvaluationBatch, EvaluationResult, Sandbox, SandboxFailure, ScriptJob, ScriptResult } from './sandbox.js';

export interface QuickJsSandboxOptions {
  /** Threads that run jobs side by side; by default one per core. */
  readonly workers?: number;
  /** Additional threads for when all others are busy with long jobs. */
  readonly spareWorkers?: number;
  /** The process ends after this long without a job. */
  readonly idleMs?: number;
  /** The folder of the sockets where evaluators run in another container; by default they are processes of this one. */
  readonly evaluatorSockets?: string | null;
  /** By default parse5, which is always there. */
  readonly pageParser?: PageParserName;
  /** A process that has work and does not answer for this long is considered dead. */
  readonly silenceMs?: number;
  /** How long a job's answer may be overdue before the process counts as dead. */
  readonly answerMarginMs?: number;
  /** Called with the reason when an evaluator process ends by itself. */
  onDeath?(why: string): void;
}

export interface QuickJsSandbox extends Sandbox {
  /** The evaluator processes: the one for all jobs, and the one apart where there is one. */
  readonly processes: readonly RunningProcess[];
  readonly isolation: EvaluatorIsolation;
}

/** What holds an evaluator process that was taken over; each is tried before it is claimed. */
export type EvaluatorIsolation = OwnIsolation | { readonly anotherContainer: true };

export interface OwnIsolation {
  /** Node's permission model, in the process and in its threads. */
  readonly permissionModel: boolean;
  readonly noNetwork: boolean;
  /** It sees no other process, so it can signal none. */
  readonly ownProcessNamespace: boolean;
}

const failures: Readonly<Record<Ended, SandboxFailure>> = {
  parse_time: {
    reason: 'page_too_complex',
    message: `The page takes more than ${defaultPageLimits.parseMs} ms to parse.`,
  },
  parse_memory: { reason: 'page_too_complex', message: 'The page takes more memory to parse than is allowed.' },
  cpu_time: { reason: 'cpu_limit', message: 'The code used more CPU time than its limit allows.' },
  memory: { reason: 'memory_limit', message: 'The code used more memory than its limit allows.' },
  crashed: {
    reason: 'sandbox_crashed',
    message: 'The page or the code ended the evaluator process, twice, the second time alone in it.',
  },
  unavailable: { reason: 'sandbox_unavailable', message: 'The sandbox was closed or could not be started.' },
};

function failureOf({ ended, message }: Ending): SandboxFailure {
  const failure = failures[ended];
  if (ended !== 'unavailable') return { ...failure, endedFromOutside: true };
  return message === undefined ? failure : { ...failure, message: `The sandbox broke down: ${message}` };
}

function ownIsolation(): OwnIsolation {
  const { network, signals } = machineIsolation();
  return { permissionModel: true, noNetwork: network, ownProcessNamespace: signals };
}

/** Of evaluators that are started with these settings. */
export function isolationOf(evaluatorSockets: string | null): EvaluatorIsolation {
  return evaluatorSockets === null ? ownIsolation() : { anotherContainer: true };
}

export function createQuickJsSandbox(options: QuickJsSandboxOptions = {}): QuickJsSandbox {
  const { evaluatorSockets = null, pageParser = 'parse5' } = options;
  const { places, ...paths } = evaluatorFiles(pageParser);
  const supervisor = new EvaluatorSupervisor({
    ...usualSettings(paths),
    ...(options.workers === undefined ? {} : { workers: options.workers }),
    ...(options.spareWorkers === undefined ? {} : { spareWorkers: options.spareWorkers }),
    ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
    open: (settings, use) =>
      evaluatorSockets === null ? spawnEvaluator(places, settings) : connectEvaluator(evaluatorSockets, use),
    silenceMs: options.silenceMs ?? 10_000,
    answerMarginMs: options.answerMarginMs ?? 30_000,
    watchMargins: { overMs: 3_000, idleMs: 750 },
    onDeath: (why) => options.onDeath?.(why),
  });
  const checks = new CheckBatches(supervisor);
  const evaluate: Sandbox['evaluate'] = async (job, { isLong } = { isLong: false }) => {
    const startedMs = performance.now();
    const outcome = await supervisor.run('evaluate', job, { cpuMs: job.limits.cpuMs, isUrgent: false, isLong });
    if (outcome.ok) return outcome.result;
    const spentMs = performance.now() - startedMs;
    const isParsing = outcome.ended === 'parse_time' || outcome.ended === 'parse_memory';
    const timings = { parseMs: isParsing ? spentMs : 0, evaluateMs: isParsing ? 0 : spentMs };
    return { ok: false, values: {}, logs: [], timings, failure: failureOf(outcome) };
  };
  return {
    isolation: isolationOf(evaluatorSockets),

    get processes() {
      return supervisor.running;
    },

    check: (code) => checks.check(code),

    evaluate,

    async evaluateAll({ visits, ...shared }: EvaluationBatch): Promise<readonly EvaluationResult[]> {
      const results: EvaluationResult[] = [];
      while (results.length < visits.length) {
        const left = visits.slice(results.length);
        const batch = { ...shared, visits: left };
        const outcome = await supervisor.run('evaluateAll', batch, { cpuMs: shared.limits.cpuMs, isUrgent: false });
        if (outcome.ok) results.push(...outcome.result);
        // Which of them ended the thread is not known: alone, each ends as it does.
        else for (const visit of left) results.push(await evaluate({ ...shared, ...visit }));
      }
      return results;
    },
    async runScript(job: ScriptJob): Promise<ScriptResult> {
      const outcome = await supervisor.run('script', job, { cpuMs: job.limits.cpuMs, isUrgent: false });
      return outcome.ok ? outcome.result : { ok: false, logs: [], failure: failureOf(outcome) };
    },

    close: () => supervisor.close(),
  };
}
