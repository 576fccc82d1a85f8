/** For specs: an evaluator whose thread does what it is asked to, as if an attacker had taken it over. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { evaluatorFiles } from './evaluator-place.js';
import { EvaluatorSupervisor } from './evaluator-supervisor.js';
import { spawnEvaluator } from './spawned-evaluator.js';
import { defaultSandboxLimits } from '../sandbox.js';

/** Answers a job with what the module in the job's code comes back with. */
const answering = `
const deedOf = async (code) => (await import('data:text/javascript,' + encodeURIComponent(code))).default;
const outcomeOf = async (code) => {
  try {
    return 'did: ' + String(await (await deedOf(code))({ load: (name) => process.getBuiltinModule('node:' + name) }));
  } catch (error) {
    return 'refused: ' + (error?.code ?? error?.message ?? error);
  }
};`;

const hostileWorker = `
import { parentPort } from 'node:worker_threads';
${answering}
parentPort.on('message', async ({ text }) => {
  const value = await outcomeOf(JSON.parse(text).code);
  parentPort.postMessage({ kind: 'result', text: JSON.stringify({ ok: true, logs: [], value }) });
});
parentPort.postMessage({ kind: 'ready', image: null });`;

const freeWorker = `
import { parentPort, workerData } from 'node:worker_threads';
${answering}
parentPort.postMessage(await outcomeOf(workerData));`;

export interface HostileEvaluator {
  /** The evaluator's own program, which may be overwritten. */
  readonly folder: string;
  readonly deaths: readonly string[];
  /** What became of a deed inside the thread: `did: …` or `refused: …`. The code's default export is called. */
  attempt(code: string): Promise<string>;
  close(): Promise<void>;
}

/** The built evaluator with another program for its thread, and unless given its own main program. */
export function openHostileEvaluator(program: { readonly main?: string } = {}): HostileEvaluator {
  const { places, quickjsPath } = evaluatorFiles('parse5');
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-hostile-'));
  cpSync(dirname(places.entryPath), folder, { recursive: true });
  writeFileSync(join(folder, 'worker.js'), hostileWorker);
  const entryPath = join(folder, 'evaluator.js');
  if (program.main !== undefined) writeFileSync(entryPath, program.main);
  const deaths: string[] = [];
  const supervisor = new EvaluatorSupervisor({
    open: (settings) => spawnEvaluator({ entryPath, readable: [folder, quickjsPath] }, settings),
    quickjsPath,
    lexborPath: null,
    workers: 1,
    spareWorkers: 0,
    idleMs: 60_000,
    graceMs: 50,
    parseMs: 60_000,
    silenceMs: 10_000,
    answerMarginMs: 30_000,
    watchMargins: { overMs: 30_000, idleMs: 30_000 },
    onDeath: (why) => deaths.push(why),
  });
  return {
    folder,
    deaths,
    async attempt(code) {
      const job = { code, form: 'script', globals: {}, seed: '', nowMs: 0, limits: defaultSandboxLimits } as const;
      const outcome = await supervisor.run('script', job, { cpuMs: 60_000, isUrgent: false });
      if (!outcome.ok) return `${outcome.ended}: ${outcome.message ?? ''}`;
      return 'value' in outcome.result ? asText(outcome.result.value) : 'no value';
    },
    async close() {
      await supervisor.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What becomes of the same deed in a thread of this very process, which nothing holds back. */
export function attemptFreely(code: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const url = new URL(`data:text/javascript,${encodeURIComponent(freeWorker)}`);
    const worker = new Worker(url, { workerData: code, execArgv: [] });
    worker.once('message', (outcome) => {
      resolve(String(outcome));
      void worker.terminate();
    });
    worker.once('error', reject);
  });
}
