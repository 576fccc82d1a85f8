import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, unlink, writeFile } from 'node:fs/promises';
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

async function factsIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(join(folder, 'tasks'), { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith('.json')).map((name) => join(folder, 'tasks', name));
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
    async alter(change) {
      for (const file of await factsIn(folder)) await writeFile(file, change(await readFile(file, 'utf8')));
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

  it.each<[string, (path: string, outside: string) => Promise<void>]>([
    ['a link to a file elsewhere', (path, outside) => symlink(outside, path)],
    ['a link to a device that never ends', (path) => symlink('/dev/zero', path)],
    ['a pipe that nobody writes to', async (path) => void execFileSync('mkfifo', [path])],
    ['a folder', (path) => mkdir(path)],
  ])('reads nothing from %s in the place of a page or of its facts', async (_what, plant) => {
    const folder = await mkdtemp(join(tmpdir(), 'meerkat-snapshots-'));
    const store = await createFileSnapshots(folder, { keepCount: 10, keepDays: 1 });
    const body = new TextEncoder().encode('<p>seen');
    const snapshot = snapshotOf(body);
    await store.save(snapshot, body);
    const task = join(folder, 'tasks', snapshot.taskId);
    for (const name of (await readdir(task)).toSorted().toReversed()) {
      const path = join(task, name);
      // With the very bytes: it is not their content that is refused.
      const outside = join(folder, `outside-${name}`);
      await writeFile(outside, await readFile(path));
      await unlink(path);
      await plant(path, outside);
      expect(await store.read(snapshot.taskId, snapshot.id)).toBe(null);
      if (name.endsWith('.json')) expect(await store.list(snapshot.taskId, 10)).toEqual([]);
    }
    await rm(folder, { recursive: true });
  });

  it('removes nothing outside of it, whatever its facts name', async () => {
    const root = await mkdtemp(join(tmpdir(), 'meerkat-snapshots-'));
    const folder = join(root, 'a', 'snapshots');
    const outside = join(root, 'a', `${'0'.repeat(64)}.zst`);
    const store = await createFileSnapshots(folder, { keepCount: 10, keepDays: 1 });
    const body = new TextEncoder().encode('<p>seen');
    const snapshot = snapshotOf(body);
    await store.save(snapshot, body);
    await writeFile(outside, 'of somebody else');
    for (const hash of [`sha256:../../../../../../a/${'0'.repeat(64)}`, `sha256:../../../../${'0'.repeat(64)}`]) {
      for (const file of await factsIn(folder)) {
        await writeFile(file, JSON.stringify({ ...snapshot, contentHash: hash, organizationId: '..' }));
      }
      await store.forget(snapshot.taskId);
      expect(await readFile(outside, 'utf8')).toBe('of somebody else');
      await store.save(snapshot, body);
    }
    await rm(root, { recursive: true });
  });
});
