import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openDatabase, type Database } from '#sqlite/database';
import type { PlainValue } from './indexed-fields.js';
import { createPut, type Put } from './sqlite-put.js';

const columns = ['"one"', '"two"', '"three"'];
const schemaOf = (table: string): string =>
  `CREATE TABLE ${table} (id TEXT PRIMARY KEY, revision INTEGER NOT NULL, document TEXT, one, two, three);
   CREATE INDEX ${table}_by_one ON ${table} (one, two, id); CREATE INDEX ${table}_by_three ON ${table} (three, id);`;

/** The same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe('a document that is written over another', () => {
  let database: Database;
  let put: Put;
  let putWhole: Put;

  const opened = (table: string): { readonly put: Put; readonly whole: Put } => {
    const save = database.prepare(
      `INSERT INTO ${table} (id, revision, document, ${columns.join(', ')}) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, document = excluded.document,
       ${columns.map((column) => `${column} = excluded.${column}`).join(', ')} WHERE revision < excluded.revision`,
    );
    const whole: Put = (id, revision, document, values) => void save.run(id, revision, document, ...values);
    return { put: createPut(database, { name: table, columns, save }), whole };
  };
  const rows = (table: string) =>
    database
      .prepare(`SELECT * FROM ${table} ORDER BY id`)
      .all()
      .map((row) => ({ ...row }));

  beforeEach(() => {
    database = openDatabase({ file: ':memory:', durability: 'normal', schema: schemaOf('a') + schemaOf('b') });
    put = opened('a').put;
    putWhole = opened('b').whole;
  });
  afterEach(() => database.close());

  it('leaves what writing all columns leaves, whatever comes in whatever order', () => {
    const next = numbers(7);
    const values: readonly PlainValue[] = [null, 0, 1, 1.5, '1', '', 'false', 'true'];
    for (let count = 0; count < 2_000; count += 1) {
      const write = [
        `id-${next(20)}`,
        next(400),
        `{"count":${count}}`,
        columns.map(() => values[next(values.length)] ?? null),
      ] as const;
      put(...write);
      putWhole(...write);
    }
    expect(rows('a')).toEqual(rows('b'));
    expect(rows('a')).toHaveLength(20);
    expect(database.prepare('PRAGMA integrity_check').get()?.['integrity_check']).toBe('ok');
  });

  it('stays as it is where the other is older or the same', () => {
    put('id', 5, '{"is":"newer"}', ['x', 1, null]);
    put('id', 5, '{"is":"the same"}', ['y', 1, null]);
    put('id', 4, '{"is":"older"}', ['z', 1, null]);
    expect(rows('a')).toEqual([{ id: 'id', revision: 5, document: '{"is":"newer"}', one: 'x', two: 1, three: null }]);
  });
});
