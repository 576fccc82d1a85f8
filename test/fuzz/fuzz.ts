/** Runs generated code on generated pages and holds each answer against what a sandbox promises. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { EvaluationJob, EvaluationResult } from '../../libs/sandbox/sandbox.ts';
import { page } from './page-grammar.ts';
import { script } from './script-grammar.ts';

export interface FuzzedSandbox {
  readonly processes: readonly { readonly pid: number }[];
  evaluate(job: EvaluationJob): Promise<EvaluationResult>;
}

export interface FuzzOptions {
  readonly seed: number;
  readonly runs: number;
  /** Begins no more, though `runs` are not done. */
  isOver(): boolean;
  readonly atOnce: number;
  readonly limits: EvaluationJob['limits'];
  /** An answer that takes longer counts as none. */
  readonly wallMs: number;
  /** Resident memory of all evaluator processes together. */
  readonly memoryMb: number;
  /** The union that answers choose from. */
  readonly reasons: readonly string[];
  /** Stands in the environment of this process: it must not be found in an answer. */
  readonly canary: string;
  onProgress?(summary: FuzzSummary): void;
}

export type FaultKind = 'hang' | 'crash' | 'escape' | 'leak' | 'reason' | 'different' | 'memory';
export interface Fault {
  readonly kind: FaultKind;
  /** `npm run fuzz -- --seed <this> --runs 1` does it again. */
  readonly seed: number;
  readonly detail: string;
}

export interface FuzzSummary {
  runs: number;
  /** Answers to cases that were run again, held against the first. */
  compared: number;
  readonly outcomes: Map<string, number>;
  readonly faults: Fault[];
  slowestMs: number;
  slowestSeed: number;
  largestEvaluatorsMb: number;
  largestProductMb: number;
}

const mark = (seed: number): string => `fz${seed}zf`;
const encoder = new TextEncoder();

export function jobOf(seed: number, limits: EvaluationJob['limits']): EvaluationJob {
  const [made] = fc.sample(fc.tuple(script, page), { seed, numRuns: 1 });
  if (made === undefined) throw new Error('nothing was generated');
  const [{ code, form }, { body, contentKind }] = made;
  const url = `https://site.example/${mark(seed)}`;
  const marked = contentKind === 'html' ? Buffer.concat([body, encoder.encode(`<!--${mark(seed)}-->`)]) : body;
  return {
    code,
    form,
    page: { url, finalUrl: url, status: 200, headers: { 'x-mark': mark(seed) }, contentKind, body: marked },
    previous: null,
    state: { mark: mark(seed) },
    seed: mark(seed),
    nowMs: Date.UTC(2026, 0, 1),
    limits,
  };
}

export function outcomeOf(result: EvaluationResult): string {
  return result.ok ? `outcome ${result.outcome}` : result.failure.reason;
}

/** Whether time, and not the code alone, decided how it ended. */
function isByTime(result: EvaluationResult): boolean {
  if (result.ok) return false;
  const { reason, endedFromOutside } = result.failure;
  return endedFromOutside === true || reason === 'cpu_limit' || reason === 'page_too_complex';
}

const withoutTimings = ({ timings: _timings, ...rest }: EvaluationResult): string => JSON.stringify(rest);

const hostWords = /node:internal|node_modules|file:\/\/\/|[\\/]evaluator[\\/]|worker\.js/;

/** What is wrong with an answer, if anything. */
function judge(seed: number, result: EvaluationResult, { reasons, canary }: FuzzOptions): Fault | null {
  const fault = (kind: FaultKind, detail: string): Fault => ({ kind, seed, detail: detail.slice(0, 300) });
  if (!result.ok && !reasons.includes(result.failure.reason)) return fault('reason', result.failure.reason);
  if (!result.ok && result.failure.reason.startsWith('sandbox_')) return fault('crash', result.failure.message);
  const text = withoutTimings(result);
  const found = result.values['escape'];
  if (typeof found === 'string' && /\b(object|function)/.test(found)) return fault('escape', found);
  if (typeof found === 'string' && /\b(process|require|module|global|host\w+|wasm\w*)\b/i.test(found))
    return fault('escape', found);
  const words = hostWords.exec(text);
  if (words !== null) return fault('escape', text.slice(Math.max(0, words.index - 100)));
  if (text.includes(canary)) return fault('escape', 'the canary of the environment');
  if (result.values['leaked'] !== undefined) return fault('leak', 'something of an earlier run was left');
  const others = text.match(/fz\d+zf/g)?.find((each) => each !== mark(seed));
  return others === undefined ? null : fault('leak', `the page of another run: ${others}`);
}

function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    // It ended, or this system does not report it.
    return 0;
  }
}

async function answerWithin(sandbox: FuzzedSandbox, job: EvaluationJob, ms: number): Promise<EvaluationResult | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, ms, null);
  try {
    return await Promise.race([sandbox.evaluate(job), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs the same cases in two sandboxes, in opposite orders, one at a time, and reports where the answers differ by a byte.
 * What time decided is left out.
 */
export async function differences(
  [first, second]: readonly [Pick<FuzzedSandbox, 'evaluate'>, Pick<FuzzedSandbox, 'evaluate'>],
  { seed, runs, limits }: Pick<FuzzOptions, 'seed' | 'runs' | 'limits'>,
): Promise<{ readonly compared: number; readonly different: readonly Fault[] }> {
  const seeds = Array.from({ length: runs }, (_, at) => seed + at);
  const answers = async (sandbox: Pick<FuzzedSandbox, 'evaluate'>, order: readonly number[]) => {
    const found = new Map<number, string>();
    for (const at of order) {
      const result = await sandbox.evaluate(jobOf(at, limits));
      if (!isByTime(result)) found.set(at, withoutTimings(result));
    }
    return found;
  };
  const [here, there] = await Promise.all([answers(first, seeds), answers(second, seeds.toReversed())]);
  const both = seeds.filter((at) => here.has(at) && there.has(at));
  const different = both
    .filter((at) => here.get(at) !== there.get(at))
    .map((at): Fault => ({ kind: 'different', seed: at, detail: `${here.get(at)}\n${there.get(at)}` }));
  return { compared: both.length, different };
}

const comparedEvery = 20;
const measuredEvery = 50;

export async function fuzz(sandbox: FuzzedSandbox, options: FuzzOptions): Promise<FuzzSummary> {
  const { seed, runs, atOnce, limits, wallMs, memoryMb } = options;
  const summary: FuzzSummary = {
    runs: 0,
    compared: 0,
    outcomes: new Map(),
    faults: [],
    slowestMs: 0,
    slowestSeed: seed,
    largestEvaluatorsMb: 0,
    largestProductMb: 0,
  };
  let next = 0;

  function measure(at: number): void {
    const evaluatorsMb = sandbox.processes.reduce((sum, { pid }) => sum + residentMb(pid), 0);
    summary.largestEvaluatorsMb = Math.max(summary.largestEvaluatorsMb, evaluatorsMb);
    summary.largestProductMb = Math.max(summary.largestProductMb, process.memoryUsage.rss() / 2 ** 20);
    if (evaluatorsMb > memoryMb) summary.faults.push({ kind: 'memory', seed: at, detail: `${evaluatorsMb} MB` });
  }

  async function one(at: number): Promise<void> {
    const job = jobOf(at, limits);
    const startedMs = performance.now();
    const result = await answerWithin(sandbox, job, wallMs);
    const tookMs = performance.now() - startedMs;
    if (tookMs > summary.slowestMs) Object.assign(summary, { slowestMs: tookMs, slowestSeed: at });
    summary.runs += 1;
    if (result === null) {
      summary.faults.push({ kind: 'hang', seed: at, detail: `no answer after ${wallMs} ms` });
      return;
    }
    const outcome = outcomeOf(result);
    summary.outcomes.set(outcome, (summary.outcomes.get(outcome) ?? 0) + 1);
    const fault = judge(at, result, options);
    if (fault !== null) summary.faults.push(fault);
    if (at % measuredEvery === 0) measure(at);
    if (at % comparedEvery === 0 && !isByTime(result)) await compare(at, job, result);
  }

  async function compare(at: number, job: EvaluationJob, first: EvaluationResult): Promise<void> {
    const known = { ...job, page: { ...job.page, contentHash: mark(at) } };
    // Once more as it was; then as a page that is known: read, imaged as it comes again, and put back.
    for (const again of [job, known, known, known]) {
      const result = await answerWithin(sandbox, again, wallMs);
      if (result === null || isByTime(result)) continue;
      summary.compared += 1;
      const texts = [first, result].map(withoutTimings);
      if (texts[0] === texts[1]) continue;
      summary.faults.push({ kind: 'different', seed: at, detail: texts.join('\n').slice(0, 600) });
    }
  }

  async function lane(): Promise<void> {
    while (next < runs && !options.isOver()) {
      const at = seed + next;
      next += 1;
      await one(at);
      if (next % 500 === 0) options.onProgress?.(summary);
    }
  }

  await Promise.all(Array.from({ length: atOnce }, lane));
  measure(seed + next);
  return summary;
}
