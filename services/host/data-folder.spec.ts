import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteEventStore } from '#event-store/sqlite';
import { readConfig, type Config } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import { enterDataFolder, findSecretKey } from './data-folder.js';

describe('the data folder', () => {
  let folder: string;
  let before: number;
  let logged: object[];
  const logger = { ...silentLogger, warn: (fields: object) => void logged.push(fields) };
  beforeEach(() => {
    before = process.umask(0);
    folder = mkdtempSync(join(tmpdir(), 'meerkat-data-'));
    logged = [];
  });
  afterEach(() => {
    process.umask(before);
    rmSync(folder, { recursive: true, force: true });
  });
  const configOf = (dataDir: string): Config => readConfig({ DATA_DIR: dataDir }, folder);
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

  it('is readable by its owner alone, with every file that is made in it, whatever the umask', async () => {
    const dataDir = join(folder, 'new', 'data');
    const config = configOf(dataDir);
    enterDataFolder(config, logger);
    findSecretKey(config);
    const store = createSqliteEventStore(join(dataDir, 'events.db'));
    await store.append('s', [{ id: 'e', type: 't', version: 1, data: {}, metadata: {} as never }], 'none');
    expect(modeOf(dataDir)).toBe('700');
    const modes = new Map(readdirSync(dataDir).map((name) => [name, modeOf(join(dataDir, name))]));
    expect([...modes.keys()]).toEqual(expect.arrayContaining(['events.db', 'events.db-wal', 'secret.key', 'unclean']));
    expect(new Set(modes.values())).toEqual(new Set(['600']));
    await store.close();
  });

  it('is closed where it was open to others, with a word about it, and leaves what its links point to alone', () => {
    const dataDir = join(folder, 'data');
    mkdirSync(join(dataDir, 'snapshots'), { recursive: true, mode: 0o755 });
    writeFileSync(join(dataDir, 'secret.key'), 'key', { mode: 0o644 });
    const outside = join(folder, 'outside');
    writeFileSync(outside, '', { mode: 0o644 });
    chmodSync(outside, 0o644);
    symlinkSync(outside, join(dataDir, 'link'));
    enterDataFolder(configOf(dataDir), logger);
    expect([dataDir, join(dataDir, 'snapshots'), join(dataDir, 'secret.key'), outside].map(modeOf)).toEqual([
      '700',
      '700',
      '600',
      '644',
    ]);
    expect(logged).toEqual([{ dataDir, closed: 3 }]);
  });

  it('tells a process that did not end in order, and is left by each process for itself alone', () => {
    const config = configOf(join(folder, 'data'));
    const first = enterDataFolder(config, logger);
    const second = enterDataFolder(config, logger);
    first.leave();
    const third = enterDataFolder(config, logger);
    third.leave();
    const fourth = enterDataFolder(config, logger);
    expect([first, second, third, fourth].map(({ wasUnclean }) => wasUnclean)).toEqual([false, true, true, false]);
    expect(readdirSync(config.dataDir)).toEqual(['unclean']);
  });
});
