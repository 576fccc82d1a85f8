import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '#runtime/config';
import { createFileSnapshots } from './file.js';
import { describeSnapshots, snapshotOf } from './snapshots.contract.js';

async function contentsOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(folder, 'contents'), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describeSnapshots('a folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-snapshots-'));
  return {
    isShared: true,
    open: (retention) => createFileSnapshots(folder, retention),
    contents: async () => (await contentsOf(folder)).length,
    async damage() {
      for (const file of await contentsOf(folder)) await writeFile(file, 'not what it was');
    },
    async orphan() {
      // Killed before its facts were written, before its content was linked, and before both.
      const old = '000000000000001';
      const task = join(folder, 'tasks', 'ntf_00000000000000000000000001');
      await writeFile(join(task, `${old}-snp_00000000000000000000000009.zst`), 'x');
      const group = join(folder, 'contents', 'org_00000000000000000000000001', 'ab');
      await mkdir(group, { recursive: true });
      await writeFile(join(group, `ab${'0'.repeat(62)}.zst`), 'x');
      await writeFile(join(folder, 'unfinished', `${old}-x`), 'x');
    },
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
});

describe('a folder of snapshots', () => {
  it('is refused where it cannot be a folder', async () => {
    await expect(createFileSnapshots('/proc/nowhere', { keepCount: 1, keepDays: 1 })).rejects.toThrow(ConfigError);
  });

  it('leaves nothing half done behind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'meerkat-snapshots-'));
    const store = await createFileSnapshots(folder, { keepCount: 2, keepDays: 1 });
    for (const text of ['1', '2', '3', '1']) {
      const body = new TextEncoder().encode(text);
      await store.save(snapshotOf(body), body);
    }
    expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
    expect((await contentsOf(folder)).length).toBe(2);
    await rm(folder, { recursive: true });
  });
});
