import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '#runtime/logger';
import { inTransaction, openDatabase, type Database } from './database.js';
import { startLogFolding, type LogFolding } from './log-folding.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const otherWriter = `const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(process.argv[1], { timeout: 0 });
  try { database.exec('BEGIN IMMEDIATE'); process.stdout.write('taken'); } catch (error) { process.stdout.write(error.message); }`;
/** A row of so many takes a page. */
const rowBytes = 3_000;
const bytesOfPage = 4_096;
const frameBytes = bytesOfPage + 24;

describe('the log of a database that is written', () => {
  let folder: string;
  let file: string;
  let database: Database;
  let folding: LogFolding;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meerkat-log-folding-'));
    file = join(folder, 'some.db');
    database = openDatabase({
      file,
      durability: 'normal',
      held: 'shared',
      schema: 'CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;',
    });
    folding = startLogFolding([file, join(folder, 'none.db')], silentLogger);
  });
  afterEach(async () => {
    await folding.stop();
    database.close();
    await rm(folder, { recursive: true });
  });

  const write = (pages: number): void =>
    inTransaction(database, () => {
      const add = database.prepare('INSERT INTO pages (bytes) VALUES (zeroblob(?))');
      for (let page = 0; page < pages; page += 1) add.run(rowBytes);
    });
  /** The file itself is written by nothing else. */
  const folded = async (pages: number): Promise<void> => {
    while (statSync(file).size < pages * bytesOfPage) await nextTurn();
    // Another one is at it as long as it is busy.
    while (database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.['busy'] !== 0) await nextTurn();
  };

  it('is folded back while its writer holds it open, and begins anew', async () => {
    const rounds = 6;
    for (let round = 1; round <= rounds; round += 1) {
      write(1_500);
      await folded(round * 1_500);
    }
    await folding.stop();
    expect(statSync(`${file}-wal`).size).toBeLessThan((rounds / 2) * 1_500 * frameBytes);
    expect(database.prepare('SELECT count(*) AS pages FROM pages').get()?.['pages']).toBe(rounds * 1_500);
  });

  it('is left to its writer while it is short', async () => {
    write(10);
    await folding.stop();
    expect(statSync(file).size).toBeLessThan(10 * bytesOfPage);
  });

  it('keeps another process out of what this one is writing', async () => {
    write(1_500);
    await folded(1_500);
    database.exec('BEGIN IMMEDIATE');
    const tried = spawnSync(process.execPath, ['-e', otherWriter, file], { encoding: 'utf8' });
    database.exec('COMMIT');
    expect(tried.stdout).toBe('database is locked');
  });
});
