import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import mongoose from 'mongoose';
import { silentLogger } from '#runtime/logger';
import { query, view } from './kit.contract.js';
import { createMongoReadStore } from './mongo.js';
import { createTextLookup, threesOf } from './mongo-texts.js';
import { collectionName, type Stored } from './mongo-view.js';
import type { FieldFilter, ViewStore } from './read-store.js';

const url = process.env['READ_STORE_URL'];
if (url === undefined) throw new Error('READ_STORE_URL must name a MongoDB (npm run servers -- up mongo)');

const letter = fc.constantFrom('a', 'B', 'ä', 'Ä', 'é', '🦦', '1', '0', '%', '.', ' ', '\0', 'k', 'K');
const text = fc.string({ unit: letter, maxLength: 9 });
const lower = (value: string): string => value.replace(/[A-Z]/g, (found) => found.toLowerCase());
const toWrite = (name: string, index: number) => ({
  id: `d${String(index).padStart(4, '0')}`,
  revision: 1,
  document: { name, owner: `owner ${index % 7}`, count: index },
});

describe('texts in MongoDB', () => {
  const installation = `spec-${randomBytes(6).toString('hex')}`;
  let store: ViewStore;
  let connection: mongoose.Connection;
  const collection = () => connection.collection<Stored>(collectionName(installation, view));
  const containing = (contains: string): FieldFilter[] => [{ fields: ['name', 'owner'], contains }];
  const lookup = () => createTextLookup(() => Promise.resolve(collection()));

  beforeAll(async () => {
    store = await createMongoReadStore({ url, installation, logger: silentLogger });
    connection = await mongoose.createConnection(url).asPromise();
  });
  afterAll(async () => {
    await store.close();
    await connection.dropCollection(collectionName(installation, view));
    await connection.close();
  });

  it('are found as a comparison with each document finds them, with true totals, however rare they are', async () => {
    const names = fc.sample(text, { numRuns: 300, seed: 7 });
    await store.save(view, names.map(toWrite), 1);
    const asked = [...fc.sample(text, { numRuns: 40, seed: 11 }), ...names.filter((_, index) => index % 10 === 0)];
    for (const contains of asked) {
      const expected = names.flatMap((name, index) =>
        [name, `owner ${index % 7}`].some((value) => lower(value).includes(lower(contains))) ? [index] : [],
      );
      for (const owner of [null, 'owner 3']) {
        const narrowed = expected.filter((index) => owner === null || `owner ${index % 7}` === owner);
        const where: FieldFilter[] = [
          ...containing(contains),
          ...(owner === null ? [] : [{ field: 'owner', equals: owner }]),
        ];
        const page = { where, sort: [{ field: 'count', descending: true }], limit: 5, offset: 2 };
        const { documents, total } = await store.page(view, query(page));
        expect({ contains, total, counts: documents.map(({ count }) => count) }).toEqual({
          contains,
          total: narrowed.length,
          counts: narrowed.toReversed().slice(2, 7),
        });
      }
    }
  });

  it('are looked up by the threes of letters that documents keep, never by going through all', async () => {
    await store.save(view, [{ id: 'rare', revision: 2, document: { name: 'An Otter', owner: 'x', count: 1 } }], 2);
    const found = await lookup().conditionFor(view, containing('OTTER'));
    expect(found).toMatchObject({ t: expect.any(Number) });
    expect(threesOf('an otter')).toContain(found?.['t']);
    const plan = JSON.stringify(
      await collection()
        .find(found ?? {})
        .explain('queryPlanner'),
    );
    expect(plan).toContain('"keyPattern":{"t":1}');
    expect(plan).not.toContain('COLLSCAN');
  });

  it('are compared along the list where most documents have them, or where they have no three', async () => {
    expect(await lookup().conditionFor(view, containing('owner'))).toBeNull();
    expect(await lookup().conditionFor(view, containing('ot'))).toBeNull();
    expect(await lookup().conditionFor(view, [{ field: 'owner', equals: 'x' }])).toBeNull();
  });

  it('are no longer found in what was changed or removed', async () => {
    await store.save(view, [{ id: 'gone', revision: 3, document: { name: 'wolverine', owner: 'x', count: 1 } }], 3);
    const total = async () => (await store.page(view, query({ where: containing('lveri') }))).total;
    expect(await total()).toBe(1);
    await store.save(view, [{ id: 'gone', revision: 4, document: { name: 'badger', owner: 'x', count: 1 } }], 4);
    expect(await total()).toBe(0);
    await store.save(view, [{ id: 'gone', revision: 5, document: null }], 5);
    expect((await store.page(view, query({ where: containing('badger') }))).total).toBe(0);
  });
});
