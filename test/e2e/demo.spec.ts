/** The demo as a person starts it, up to its first mail and webhook. */
import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/meerkat.mjs', import.meta.url));

interface Demo {
  readonly output: () => string;
  /** Resolves when the output shows the words. Rejects with the output where it ends before. */
  seen(words: RegExp): Promise<void>;
  readonly ended: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
}

/** What is temporary goes into `folder`, so that it can be seen whether anything stays. */
function startDemo(folder: string, ...options: string[]): Demo {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program, 'demo', '--port', '0', ...options], {
    env: { PATH, HOME, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    output: () => output,
    ended,
    signal: (name) => void child.kill(name),
    seen: (words) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (words.test(output)) resolve();
        };
        listeners.add(look);
        look();
        void ended.then(() => reject(new Error(`${String(words)} was not seen:\n${output}`)));
      }),
  };
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-demo-spec-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('the demo', () => {
  it('--once shows links, runs, the first mail and the first verified webhook, then ends with 0 and leaves nothing', async () => {
    await inFolder(async (folder) => {
      const demo = startDemo(folder, '--once');
      expect(await demo.ended).toBe(0);
      const output = demo.output();
      expect(output).toMatch(/Meerkat is ready at http:\/\/127\.0\.0\.1:\d+/);
      expect(output).toMatch(/reference +http:\S+\/docs/);
      expect(output).toMatch(/API key +mk_\w{8}_\w{46}/);
      expect(output).toMatch(/run +false price 129 +not_true/);
      expect(output).toMatch(/mail +Binoculars under 100: now 89 euros/);
      expect(output).toMatch(/webhook +notification\.triggered +dlv_\w{26} +signature verified/);
      expect(await readdir(folder)).toEqual([]);
    });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('runs on until %s, then ends with 0 and leaves nothing', async (signal) => {
    await inFolder(async (folder) => {
      const demo = startDemo(folder);
      await demo.seen(/run +false price 129/);
      demo.signal(signal);
      expect(await demo.ended).toBe(0);
      expect(await readdir(folder)).toEqual([]);
    });
  });
});
