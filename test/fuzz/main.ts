/** `npm run fuzz -- [--minutes N] [--runs N] [--seed S] [--parser parse5|lexbor]`: the built sandbox under generated code and pages. */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { SandboxLimits } from '../../libs/sandbox/sandbox.ts';
import { fuzz, jobOf, type FuzzedSandbox, type FuzzSummary } from './fuzz.ts';

const usage = 'Usage: npm run fuzz -- [--minutes <n>] [--runs <n>] [--seed <n>] [--parser parse5|lexbor]\n';
/** Small, so that what has no end comes to one soon. */
const limits: SandboxLimits = { cpuMs: 25, memoryMb: 24, outputBytes: 16_384, stateBytes: 4_096 };
const wallMs = 60_000;
const memoryMb = 1_500;

interface Built extends FuzzedSandbox {
  close(): Promise<void>;
}
type Create = (options: { pageParser: string; onDeath(why: string): void }) => Built;

const built = (file: string): Promise<Record<string, unknown>> =>
  import(new URL(`../../dist/libs/sandbox/${file}.js`, import.meta.url).href);

function readOptions() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      runs: { type: 'string' },
      seed: { type: 'string' },
      parser: { type: 'string', default: 'parse5' },
    },
  });
  const minutes = Number(values.minutes ?? (values.runs === undefined ? '1' : '1440'));
  const runs = Number(values.runs ?? '1e9');
  const seed = Number(values.seed ?? String(Date.now() % 1_000_000_000));
  if (!(minutes > 0) || minutes > 1_440) throw new Error('--minutes must be a number from above 0 to 1440.');
  if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs must be a whole number from 1.');
  if (!Number.isInteger(seed) || seed < 0) throw new Error('--seed must be a whole number from 0.');
  if (!['parse5', 'lexbor'].includes(values.parser)) throw new Error('--parser must be parse5 or lexbor.');
  return { minutes, runs, seed, parser: values.parser };
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

function tell(
  { runs, compared, outcomes, faults, slowestMs, slowestSeed, ...memory }: FuzzSummary,
  deaths: readonly string[],
): void {
  print(`${runs} runs, ${compared} answers compared with the first one to the same`);
  for (const [outcome, count] of [...outcomes].toSorted((a, b) => b[1] - a[1])) print(`  ${outcome}: ${count}`);
  print(`slowest answer ${slowestMs.toFixed(0)} ms (--seed ${slowestSeed} --runs 1)`);
  print(
    `memory at most: evaluator ${memory.largestEvaluatorsMb.toFixed(0)} MB, product ${memory.largestProductMb.toFixed(0)} MB`,
  );
  const count = (...kinds: readonly string[]): number => faults.filter(({ kind }) => kinds.includes(kind)).length;
  print(
    `evaluator processes that died: ${deaths.length}${deaths.length > 0 ? ` (${[...new Set(deaths)].join('; ')})` : ''}`,
  );
  for (const { kind, seed, detail } of faults.slice(0, 20)) print(`FAILED ${kind}, --seed ${seed} --runs 1: ${detail}`);
  print(
    `${count('escape', 'leak')} escapes, ${count('crash', 'memory')} crashes, ${count('hang')} hangs, ${count('reason', 'different')} other faults`,
  );
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return 2;
  }
  const { minutes, runs, seed, parser } = options;
  const canary = `canary-${randomBytes(12).toString('hex')}`;
  process.env['FUZZ_CANARY'] = canary;
  const { createQuickJsSandbox } = await built('quickjs');
  const { sandboxFailureReasons } = await built('sandbox');
  const deaths: string[] = [];
  const sandbox = (createQuickJsSandbox as Create)({ pageParser: parser, onDeath: (why) => deaths.push(why) });
  print(`fuzzing ${parser} from seed ${seed}${runs < 1e9 ? `, ${runs} runs` : ` for ${minutes} min`}`);
  if (runs === 1) print(jobOf(seed, limits).code);
  const startedMs = performance.now();
  let isInterrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (isInterrupted = true));
  try {
    const summary = await fuzz(sandbox, {
      seed,
      runs,
      isOver: () => isInterrupted || performance.now() > startedMs + minutes * 60_000,
      atOnce: 2 * availableParallelism(),
      limits,
      wallMs,
      memoryMb,
      reasons: sandboxFailureReasons as readonly string[],
      canary,
      onProgress: ({ runs: done, faults }) =>
        print(`${done} runs, ${faults.length} faults, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`),
    });
    tell(summary, deaths);
    return summary.faults.length === 0 && deaths.length === 0 ? 0 : 1;
  } finally {
    await sandbox.close();
  }
}

process.exitCode = await main();
