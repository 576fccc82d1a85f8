/** Signals as they really come: from a terminal, through npm, to a whole group of processes, and more than once. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import '../kit/built.js';
import { scratchFolder } from '../kit/installation.js';
import { until } from '../kit/until.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Of util-linux: it runs a command in a terminal of its own. */
const hasTerminals = spawnSync('script', ['--version']).status === 0;

interface Started {
  readonly child: ChildProcess;
  /** What it wrote so far. */
  said(): string;
  readonly ended: Promise<void>;
}

let folder: string;
let started: Started | null;

beforeEach(async () => {
  folder = await scratchFolder();
  started = null;
});
afterEach(async () => {
  if (started?.child.pid !== undefined && started.child.exitCode === null) process.kill(-started.child.pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function start(program: string, words: readonly string[]): Promise<Started> {
  const { PATH = '', HOME = '' } = process.env;
  const env = {
    PATH,
    HOME,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    LOG_FORMAT: 'json',
    npm_config_update_notifier: 'false',
  };
  const child = spawn(program, words, { cwd: root, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  started = { child, said: () => text, ended };
  await until('the product is ready', () => / is ready at http/.test(text));
  return started;
}

/** An orderly end leaves neither its mark nor write-ahead files behind. */
async function expectOrderlyEnd({ ended, said }: Started): Promise<void> {
  await ended;
  const left = await readdir(join(folder, 'data'));
  expect([left.filter((name) => /unclean|-wal$|-shm$/.test(name)), said().match(/stopping: no new work/g)]).toEqual([
    [],
    ['stopping: no new work'],
  ]);
}

describe('npm start', () => {
  const inTerminal = hasTerminals ? it : it.skip;

  inTerminal.each([1, 2, 3])('is stopped in order by Ctrl-C in a terminal (%i)', async () => {
    const running = await start('script', ['-qfec', 'npm start', '/dev/null']);
    running.child.stdin?.write('\u0003');
    await expectOrderlyEnd(running);
  });

  it('is stopped in order by SIGTERM to the whole group, sent three times', async () => {
    const running = await start('npm', ['start']);
    for (let times = 0; times < 3; times += 1) process.kill(-(running.child.pid ?? 0), 'SIGTERM');
    await expectOrderlyEnd(running);
  });
});
