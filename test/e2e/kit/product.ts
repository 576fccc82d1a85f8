/** The built product as a real process: its output, its address, its end. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import './built.js';
import { until } from './until.js';

const startScript = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url));

export interface Ending {
  /** null: ended by the signal. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Product {
  readonly pid: number;
  /** What it wrote to stdout and stderr so far. */
  readonly lines: readonly string[];
  /** Where it listens, once it does and every part answers. Rejects where it ends before. */
  ready(): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process is gone and its output was read to the end. */
  readonly ended: Promise<Ending>;
}

const readyWithinMs = 60_000;

/** No process outlives the spec that started it, whatever happens to the spec. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts `npm start`'s own program in `folder`, with `settings` and nothing else of this environment but PATH, HOME and PAGE_PARSER. */
export function startProduct(settings: Readonly<Record<string, string>>, folder: string): Product {
  // The same scenarios are run with each page parser.
  const { PATH = '', HOME = '', PAGE_PARSER = 'auto' } = process.env;
  const child = spawn(process.execPath, [startScript], {
    cwd: folder,
    env: { PATH, HOME, PAGE_PARSER, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  let ending: Ending | null = null;
  const ended = new Promise<Ending>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      ending = { code, signal };
      resolve(ending);
    });
  });
  const listening = (): string | undefined =>
    lines.flatMap((line) => / is ready at (http:\S+)$/.exec(line)?.[1] ?? []).at(-1);
  return {
    pid: child.pid ?? 0,
    lines,
    ended,
    signal: (signal) => void child.kill(signal),
    async ready() {
      const url = await until<string | Ending>('the product is ready', () => ending ?? listening(), readyWithinMs);
      if (typeof url !== 'string') throw new Error(`it ended with ${JSON.stringify(url)}:\n${lines.join('\n')}`);
      await until('every part answers', async () => (await fetch(`${url}/readyz`)).ok, readyWithinMs);
      return url;
    },
  };
}
