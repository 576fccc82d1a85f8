/** The command line as it is typed: the built program in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import './built.js';

const program = fileURLToPath(new URL('../../../bin/meerkat.mjs', import.meta.url));

export interface EndedCommand {
  /** null: killed. */
  readonly exitCode: number | null;
  readonly out: string;
  readonly error: string;
}

/** Runs it in `folder` with `settings` and nothing else of this environment but PATH and HOME; killed when `killed` resolves. */
export async function meerkat(
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
  folder: string,
  killed?: (ended: Promise<unknown>) => Promise<unknown>,
): Promise<EndedCommand> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, error] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (error += chunk));
  const ended = once(child, 'close');
  if (killed !== undefined) {
    await killed(ended);
    child.kill('SIGKILL');
  }
  await ended;
  return { exitCode: child.exitCode, out, error };
}
