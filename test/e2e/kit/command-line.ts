/** `meerkat …` as it is typed: the built program, its output, its exit code. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import './built.js';

const program = fileURLToPath(new URL('../../../bin/meerkat.mjs', import.meta.url));

export interface CommandEnd {
  readonly exitCode: number | null;
  readonly out: string;
  readonly error: string;
}

/** Runs a command to its end, in `folder`, with `settings` and nothing else of this environment but PATH and HOME. */
export async function runCommand(
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
  folder: string,
): Promise<CommandEnd> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, error] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (error += chunk));
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exitCode, out, error };
}

/** Kills a command after so long; `killed`, or how it ended before. */
export async function killedCommand(
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
  folder: string,
  afterMs: number,
): Promise<'killed' | number | null> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { PATH, HOME, ...settings },
    stdio: 'ignore',
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  return signal === 'SIGKILL' ? 'killed' : code;
}

export interface RunningCommand {
  readonly ended: Promise<number | null>;
  /** What it wrote to standard error so far. */
  readonly notes: () => string;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** A command that goes on until it is ended. */
export function startCommand(
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
  folder: string,
): RunningCommand {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let error = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (error += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    ended,
    notes: () => error,
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
