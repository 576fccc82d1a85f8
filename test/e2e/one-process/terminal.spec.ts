/** What somebody sees who starts it at a terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startProduct } from '../kit/product.js';

describe('a start on a terminal', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meerkat-e2e-terminal-'));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('gets ready with readable log lines, and loses none of them at its end', async () => {
    const product = startProduct({ DATA_DIR: join(folder, 'data'), PORT: '0', LOG_FORMAT: 'pretty' }, folder);
    try {
      await product.ready();
      product.signal('SIGTERM');
      expect(await product.ended).toEqual({ code: 0, signal: null });
      const said = product.lines.filter((line) => line.includes('stopping: no new work'));
      expect(said).toEqual([expect.stringMatching(/^\[\d\d:\d\d:\d\d\] INFO: /)]);
    } finally {
      product.signal('SIGKILL');
    }
  });
});

describe('a command whose results nobody reads to their end, as behind `| head`', () => {
  it('ends as ever, without a word', async () => {
    const program = fileURLToPath(new URL('../../../bin/meerkat.mjs', import.meta.url));
    const child = spawn(process.execPath, [program, 'export', '--schema'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let error = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (error += chunk));
    const [exitCode] = (await once(child, 'close')) as [number | null];
    expect([exitCode, error]).toEqual([0, '']);
  });
});
