import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { inTransaction, openDatabase, type Database } from '#sqlite/database';
import { createTableTrash } from './sqlite-table-trash.js';

describe('a table that nobody needs any more', () => {
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
    let turns = 0;
    while (tables().some((name) => name.startsWith('discarded_'))) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    return turns;
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

  it('is out of the way at once, and gone by and by with turns for others in between', async () => {
    fill(3_000);
    const discarded = createTableTrash(database);
    inTransaction(database, () => discarded.discard('things'));
    expect(tables()).toEqual(['discarded_1']);
    discarded.empty();
    expect(await untilGone()).toBeGreaterThan(5);
    expect(tables()).toEqual([]);
    await discarded.stop();
  });

  it('is gone after a few turns where most of its rows were gone before', async () => {
    fill(3_000);
    database.exec("DELETE FROM things WHERE id <> 'thing-17' AND id <> 'thing-2999'");
    const discarded = createTableTrash(database);
    inTransaction(database, () => discarded.discard('things'));
    discarded.empty();
    expect(await untilGone()).toBeLessThan(5);
    await discarded.stop();
  });

  it('is left as it is by a stop, and gone on with after the next start', async () => {
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
