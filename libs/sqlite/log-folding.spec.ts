import { mkdtemp, rm } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '#runtime/logger';
import { inTransaction, openDatabase, type Database } from './database.js';
import { startLogFolding, type LogFolding } from './log-folding.js';
import { unfoldedPages } from './log-length.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A row of so many takes a page. */
const rowBytes = 3_000;
const frameBytes = 4_096 + 24;

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
  const folded = async (): Promise<void> => {
    while (unfoldedPages(file) >= 1_000) await nextTurn();
  };

  it('is folded back while its writer holds it open, and begins anew', async () => {
    const rounds = 6;
    for (let round = 0; round < rounds; round += 1) {
      write(1_500);
      expect(unfoldedPages(file)).toBeGreaterThanOrEqual(1_500);
      await folded();
    }
    await folding.stop();
    expect(statSync(`${file}-wal`).size).toBeLessThan((rounds / 2) * 1_500 * frameBytes);
    expect(database.prepare('SELECT count(*) AS pages FROM pages').get()?.['pages']).toBe(rounds * 1_500);
  });

  it('is left as it is while it is short', async () => {
    write(10);
    const before = unfoldedPages(file);
    await folding.stop();
    expect([before > 0, unfoldedPages(file)]).toEqual([true, before]);
  });

  it('has no pages where there is none', () => {
    expect(unfoldedPages(join(folder, 'none.db'))).toBe(0);
  });
});
