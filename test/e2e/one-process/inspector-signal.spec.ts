/** SIGUSR1 makes Node.js open its inspector, through which anybody on the machine could run code in the process. */
import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import '../kit/built.js';

const place = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const built = (path: string): string => JSON.stringify(new URL(`../../../dist/${path}`, import.meta.url).href);
const start = { PORT: '0', HOST: '127.0.0.1', LOG_FORMAT: 'json' };

/** Each way by which a process of the product begins, and the words that say that it runs. */
const entries: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['npm start', [place('scripts/start.mjs')], /is ready at/],
  ['meerkat start', [place('bin/meerkat.mjs'), 'start'], /is ready at/],
  ['meerkat demo', [place('bin/meerkat.mjs'), 'demo', '--port', '0'], /http:\/\//],
  [
    "a service's own entry",
    ['-e', `import(${built('services/host/main.js')}).then(({ start }) => start())`],
    /is ready at/,
  ],
];

const onUnix = process.platform !== 'win32';

describe(`a process of the product${onUnix ? '' : ' (not tried: this system has no signals)'}`, () => {
  it.each(entries)('opens no inspector on SIGUSR1: %s', async (_name, words, ready) => {
    if (!onUnix) return;
    const folder = await mkdtemp(join(tmpdir(), 'meerkat-signal-'));
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, words, {
      cwd: folder,
      env: { PATH, HOME, TMPDIR: folder, DATA_DIR: join(folder, 'data'), ...start },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let hasSignalled = false;
    const ended = new Promise((resolve) => child.once('close', resolve));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        if (hasSignalled || !ready.test(output)) return;
        hasSignalled = true;
        child.kill('SIGUSR1');
        child.kill('SIGTERM');
      });
    }
    await ended;
    await rm(folder, { recursive: true });
    expect(output).toMatch(ready);
    expect(output).not.toContain('Debugger listening');
  });
});
