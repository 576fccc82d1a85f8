/** What somebody sees who starts it at a terminal. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
