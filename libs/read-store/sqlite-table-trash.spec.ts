import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { inTransaction, openDatabase, type Database } from '#sqlite/database';
import { createTableTrash } from './sqlite-table-trash.js';

describe('the table trash', () => {
  let database: Database;

  const tables = (): string[] =>
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all()
      .map(({ name }) => String(name));

  const fill = (rows: number): void =>
    inTransaction(database, () => {
      const add = database.prepare('INSERT INTO things (id, of) VALUES (?, ?)');
      for (let number = 0; number < rows; number += 1) add.run(`thing-${number}`, number % 7);
    });

  const untilGone = async (): Promise<number> => {
    let steps = 0;
    while (tables().some((name) => name.startsWith('discarded_'))) {
      await new Promise((resolve) => setImmediate(resolve));
      steps += 1;
    }
    return steps;
  };

  beforeEach(() => {
    database = openDatabase({
      file: ':memory:',
      durability: 'normal',
      held: 'shared',
      schema:
        'CREATE TABLE things (id TEXT PRIMARY KEY, of INTEGER) STRICT; CREATE INDEX things_by_of ON things (of, id);',
    });
  });
  afterEach(() => database.close());

  it('a discarded table is renamed at once and dropped in many small steps', async () => {
    fill(3_000);
    const discarded = createTableTrash(database);
    inTransaction(database, () => discarded.discard('things'));
    expect(tables()).toEqual(['discarded_1']);
    discarded.empty();
    expect(await untilGone()).toBeGreaterThan(5);
    expect(tables()).toEqual([]);
    await discarded.stop();
  });

  it('a mostly empty table is dropped in few steps', async () => {
    fill(3_000);
    database.exec("DELETE FROM things WHERE id <> 'thing-17' AND id <> 'thing-2999'");
    const discarded = createTableTrash(database);
    inTransaction(database, () => discarded.discard('things'));
    discarded.empty();
    expect(await untilGone()).toBeLessThan(5);
    await discarded.stop();
  });

  it('a table left by a stop is dropped after the next start', async () => {
    fill(3_000);
    const first = createTableTrash(database);
    inTransaction(database, () => first.discard('things'));
    first.empty();
    await first.stop();
    expect(tables()).toEqual(['discarded_1']);
    const second = createTableTrash(database);
    second.empty();
    await untilGone();
    await second.stop();
  });
});
