/** The demo as a person starts it, up to its first mail and webhook. */
import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import '../kit/built.js';
import { until } from '../kit/until.js';

const program = fileURLToPath(new URL('../../../bin/meerkat.mjs', import.meta.url));

interface Demo {
  readonly output: () => string;
  /** Resolves when the output shows the words. Rejects with the output where it does not. */
  seen(words: RegExp): Promise<void>;
  readonly ended: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  stopReading(): void;
}

/** What is temporary goes into `folder`, so that it can be seen whether anything stays. */
function startDemo(folder: string, ...options: string[]): Demo {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program, 'demo', '--port', '0', ...options], {
    env: { PATH, HOME, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    output: () => output,
    ended,
    signal: (name) => void child.kill(name),
    stopReading: () => void child.stdout.destroy(),
    async seen(words) {
      await until(String(words), () => words.test(output)).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${output}`);
      });
    },
  };
}

/** Nothing of the demo outlives the work, whatever happens to it. */
async function withDemo(
  options: readonly string[],
  work: (demo: Demo, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-demo-spec-'));
  const demo = startDemo(folder, ...options);
  try {
    await work(demo, folder);
  } finally {
    demo.signal('SIGKILL');
    await demo.ended;
    await rm(folder, { recursive: true, force: true });
  }
}

describe('the demo', () => {
  it('with --once shows links, runs, the first mail and the first verified webhook, then exits with 0 and leaves no data', async () => {
    await withDemo(['--once'], async (demo, folder) => {
      const exitCode = await demo.ended;
      const output = demo.output();
      expect(output).toMatch(/Meerkat is ready at http:\/\/127\.0\.0\.1:\d+/);
      expect(output).toMatch(/reference +http:\S+\/docs/);
      expect(output).toMatch(/API key +mk_\w{8}_\w{46}/);
      expect(output).toMatch(/run +false price 129 +not_true/);
      expect(output).toMatch(/mail +Binoculars under 100: now 89 euros/);
      expect(output).toMatch(/│ "Binoculars under 100": the condition became true\./);
      expect(output).not.toMatch(/Content-Type|<html|=3D/);
      expect(output).toMatch(/webhook +notification\.triggered +dlv_\w{26} +signature verified/);
      expect(exitCode).toBe(0);
      expect(await readdir(folder)).toEqual([]);
    });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('runs until %s, then exits with 0 and leaves no data', async (signal) => {
    await withDemo([], async (demo, folder) => {
      await demo.seen(/run +false price 129/);
      demo.signal(signal);
      expect(await demo.ended).toBe(0);
      expect(await readdir(folder)).toEqual([]);
    });
  });

  it('exits in order when its output is closed', async () => {
    await withDemo([], async (demo, folder) => {
      await demo.seen(/run +false price 129/);
      demo.stopReading();
      expect(await demo.ended).toBe(0);
      expect(await readdir(folder)).toEqual([]);
    });
  });
});
