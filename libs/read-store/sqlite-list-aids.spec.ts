import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import {
  asBuilt,
  type DocumentWrite,
  type FieldFilter,
  type PageQuery,
  type ViewDefinition,
  type ViewStore,
} from './read-store.js';
import { createSqliteReadStore } from './sqlite.js';

const fields = ['owner', 'state', 'done', 'name', 'place', 'tags', 'at'];
const indexes = [
  ['owner', 'at'],
  ['owner', 'name'],
];
/** The same documents, found by nothing but the indexes. */
const plain: ViewDefinition = { name: 'plain', fields, indexes };
const aided: ViewDefinition = {
  name: 'aided',
  fields,
  indexes: [
    ...indexes,
    ['owner', 'state', 'at'],
    ['owner', 'done', 'state', 'at'],
    ['owner', 'tags', 'at'],
    ['owner', 'tags', 'state', 'at'],
    ['owner', 'tags', 'name'],
  ],
  lists: ['tags'],
  totals: ['owner', 'state', 'done'],
  searched: ['name', 'place'],
};

const word = fc.constantFrom(
  'kettle',
  'Kettle red',
  'KETTLE',
  'ket',
  'tl',
  'äöü',
  'a"b"c',
  '%_%',
  '',
  'tle\n ket',
  '😀😀😀',
);
const tag = fc.constantFrom('red', 'blue', 'big', '');
const document = fc.record({
  owner: fc.constantFrom('x', 'y'),
  state: fc.constantFrom('on', 'off', '', null),
  done: fc.constantFrom(true, false, null),
  name: word,
  place: word,
  tags: fc.array(tag, { maxLength: 4 }),
  at: fc.integer({ min: 0, max: 5 }),
});
const changes = fc.array(
  fc.record({ id: fc.integer({ min: 0, max: 20 }).map(String), document: fc.option(document, { freq: 6 }) }),
  { maxLength: 60 },
);
const filters = fc
  .record(
    {
      owner: fc.constantFrom('x', 'y', 'z').map((equals) => ({ field: 'owner', equals })),
      state: fc.constantFrom('on', 'off', null, '').map((equals) => ({ field: 'state', equals })),
      states: fc.constantFrom(['on', 'off'], ['off', ''], []).map((oneOf) => ({ field: 'state', oneOf })),
      done: fc.constantFrom(true, false, null, 1, '').map((equals) => ({ field: 'done', equals })),
      dones: fc.constantFrom([1], [0, 1], [0, '']).map((oneOf) => ({ field: 'done', oneOf })),
      tag: tag.map((has) => ({ field: 'tags', has })),
      text: fc
        .constantFrom('ett', 'KETTLE', 'k', 'a"b', '"', 'äöü', 'ÄÖÜ', '%_%', 'le\n', '😀😀😀', 'nowhere')
        .map((contains) => ({
          fields: ['name', 'place'],
          contains,
        })),
      late: fc.constant({ field: 'at', from: 2 }),
    },
    { requiredKeys: [] },
  )
  .map((some) => Object.values(some) as FieldFilter[]);
const question = fc.record({
  where: filters,
  sort: fc.constantFrom('at', 'name').chain((field) => fc.boolean().map((descending) => [{ field, descending }])),
  limit: fc.integer({ min: 1, max: 7 }),
  offset: fc.integer({ min: 0, max: 21 }),
});

describe('lists of a view with totals, values of lists and texts', () => {
  let store: ViewStore;
  let folder: string;
  const open = (): ViewStore => createSqliteReadStore(join(folder, 'views.db'));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'meerkat-aids-'));
    store = open();
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const both = async (writes: readonly DocumentWrite[]): Promise<void> => {
    await store.save(plain, writes, null);
    await store.save(aided, writes, null);
  };

  const expectAlike = async (asked: Omit<PageQuery, 'count'>): Promise<void> => {
    const query = { ...asked, count: true };
    expect([query, await store.page(aided, query)]).toEqual([query, await store.page(plain, query)]);
  };

  it('are those of the documents, whatever was written, changed and removed', async () => {
    let revision = 0;
    await fc.assert(
      fc.asyncProperty(changes, fc.array(question, { minLength: 5, maxLength: 5 }), async (written, questions) => {
        await both(written.map(({ id, document: to }) => ({ id, revision: (revision += 1), document: to })));
        for (const asked of questions) await expectAlike(asked);
      }),
      { numRuns: 150 },
    );
  });

  const many = (count: number): DocumentWrite[] =>
    Array.from({ length: count }, (_, index) => ({
      id: `d${String(index).padStart(6, '0')}`,
      revision: index + 1,
      document: {
        owner: index % 3 === 0 ? 'y' : 'x',
        state: index % 2 === 0 ? 'on' : 'off',
        name: `kettle ${index}`,
        place: 'shop',
        tags: index % 4 === 0 ? ['red', 'red'] : ['blue'],
        at: index % 10,
      },
    }));

  const expectEveryWay = async (): Promise<void> => {
    for (const where of [
      [{ field: 'owner', equals: 'x' }],
      [
        { field: 'owner', equals: 'x' },
        { field: 'tags', has: 'red' },
      ],
      [
        { field: 'owner', equals: 'x' },
        { field: 'tags', has: 'red' },
        { field: 'state', equals: 'on' },
      ],
      // More have it than are looked up, and fewer.
      [
        { field: 'owner', equals: 'x' },
        { fields: ['name', 'place'], contains: 'kettle' },
      ],
      [
        { field: 'owner', equals: 'x' },
        { fields: ['name', 'place'], contains: 'kettle 77' },
      ],
    ] satisfies FieldFilter[][]) {
      for (const offset of [0, 15, 2_000, 6_660]) {
        await expectAlike({ where, sort: [{ field: 'at', descending: true }], limit: 10, offset });
      }
    }
  };

  it('are the same for a built view that takes the place of one, and go on from there', async () => {
    await both(many(40));
    const built = asBuilt(aided, 'aided_anew');
    const rows = many(25_000);
    await store.save(plain, rows, 1);
    await store.save(built, rows, 1);
    await store.index(aided, built);
    // Written after the indexes were made, before it takes the place.
    const last = { id: 'd000001', revision: 20_000, document: null };
    await store.save(plain, [last], 2);
    await store.save(built, [last], 2);
    await store.replace(aided, built);
    await expectEveryWay();
    await both([
      { id: 'd000002', revision: 20_001, document: { ...rows[0]?.document, name: 'kettle 77 anew', tags: [] } },
    ]);
    await expectEveryWay();
    // Once more, so that each name is free again.
    const again = asBuilt(aided, 'aided_again');
    await store.save(again, many(5), 3);
    await store.replace(aided, again);
    expect((await store.page(aided, { where: [], sort: [], limit: 1, offset: 0, count: true })).total).toBe(5);
  });

  it('are made anew where an earlier version kept others', async () => {
    const rows = many(11_000);
    const { lists: _lists, ...before } = aided;
    await store.save(plain, rows, 1);
    await store.save({ ...before, indexes, totals: ['owner'], searched: ['name'] }, rows, 1);
    await store.close();
    store = open();
    await expectEveryWay();
  });

  it('are made for what an earlier version lacked, and left as they are where it kept the same', async () => {
    const rows = many(7_000);
    await store.save(plain, rows, 1);
    await store.save({ ...aided, totals: ['owner'] }, rows, 1);
    await store.close();
    const madeWhen = (): unknown[] => {
      const database = new DatabaseSync(join(folder, 'views.db'), { readOnly: true });
      const found = database
        .prepare("SELECT rowid, name FROM sqlite_schema WHERE name GLOB 'values_aided*' OR name GLOB 'texts_aided*'")
        .all();
      database.close();
      return found;
    };
    const before = madeWhen();
    store = open();
    await expectEveryWay();
    expect(madeWhen()).toEqual(before);
  });

  it('need no view anew where they are totals alone', async () => {
    const rows = many(7_000);
    await store.save(plain, rows, 1);
    await store.close();
    store = open();
    const counted: ViewDefinition = { ...plain, totals: ['owner', 'done'] };
    for (const equals of ['x', 'y']) {
      const query = { where: [{ field: 'owner', equals }], sort: [], limit: 1, offset: 0, count: true };
      expect((await store.page(counted, query)).total).toBe(
        rows.filter(({ document }) => document?.['owner'] === equals).length,
      );
    }
    expect(await store.checkpoint(counted)).toBe(1);
  });

  it('a view whose rows an earlier version did not number comes anew from the events', async () => {
    const { lists: _lists, totals: _totals, searched: _searched, ...before } = aided;
    await store.save({ ...before, indexes }, many(3), 1);
    await store.close();
    store = open();
    expect(await store.checkpoint(aided)).toBeNull();
    await store.save(aided, many(2), 1);
    expect((await store.page(aided, { where: [], sort: [], limit: 1, offset: 0, count: true })).total).toBe(2);
  });

  it('keep nothing of a value that no document holds any more', async () => {
    const [first, second] = many(2);
    if (first === undefined || second === undefined) throw new Error('there are two');
    await store.save(aided, [first, { ...second, document: { ...second.document, tags: ['secret', 'secret'] } }], 1);
    await store.save(aided, [{ ...second, revision: 10 }], 2);
    await store.save(aided, [{ id: first.id, revision: 11, document: null }], 3);
    const database = new DatabaseSync(join(folder, 'views.db'), { readOnly: true });
    const left = database.prepare('SELECT DISTINCT value FROM "totals_aided:tags"').all();
    database.close();
    expect(left.map(({ value }) => value)).toEqual(['blue']);
  });

  it('a view that is dropped leaves nothing behind', async () => {
    await both(many(700));
    await store.reset(aided);
    await store.save(aided, many(3), 1);
    expect((await store.page(aided, { where: [], sort: [], limit: 1, offset: 0, count: true })).total).toBe(3);
    await store.reset(aided);
    await store.reset(plain);
    await store.close();
    // What is discarded is emptied in steps.
    store = open();
    await store.close();
    const database = new DatabaseSync(join(folder, 'views.db'));
    const left = database
      .prepare("SELECT name FROM sqlite_schema WHERE type <> 'index' AND name NOT LIKE 'sqlite_%'")
      .all();
    database.close();
    store = open();
    expect(left.map(({ name }) => name).filter((name) => !String(name).startsWith('discarded_'))).toEqual([
      'checkpoints',
    ]);
  });
});
