/** `meerkat bench`: measures this machine; the benchmarks live in the repository, not in an installation without it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { exitCodes, Refused } from './terminal.js';

/** The folder above this file, source or built, that is the root of the package. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

function runToEnd(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? exitCodes.refused));
  });
}

export function addBench(program: Command, end: (exitCode: number) => void): void {
  program
    .command('bench')
    .description('measure this machine; what follows is handed to `npm run bench --`')
    .argument('[names...]', 'benchmarks, with --json and --seed; without a name: all')
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(async (names: string[]) => {
      const script = join(packageRoot(), 'test', 'bench', 'main.mjs');
      if (!existsSync(script)) {
        throw new Refused(
          'not_a_checkout',
          'Benchmarks run from a checkout of the repository; this installation has none.',
        );
      }
      end(await runToEnd(process.execPath, [script, ...names]));
    });
}
