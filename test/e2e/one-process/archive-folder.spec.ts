/** ARCHIVE_DIR at the start: a folder that can be written, or none. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scratchFolder } from '../kit/installation.js';
import { refusedStart } from '../kit/refused-start.js';

describe('an archive folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await scratchFolder();
    await writeFile(join(folder, 'file'), '');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['that is not there', 'nowhere'],
    ['that is a file', 'file'],
  ])('%s ends the start with 78, and the way out', async (_what, name) => {
    const place = join(folder, name);
    const { code, said } = await refusedStart({ ARCHIVE_DIR: place }, folder);
    expect(code).toBe(78);
    expect(said).toContain('ARCHIVE_DIR');
    expect(said).toContain(`${place} is no folder`);
  });
});
