import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ViewDefinition, ViewStore } from './read-store.js';
import { charactersOf } from '#runtime/json-size';
import { rememberDocuments } from './remembered-documents.js';
import { createSqliteReadStore } from './sqlite.js';

const view: ViewDefinition = { name: 'things', fields: [], indexes: [], isRemembered: true };

describe('remembered documents', () => {
  let stored: ViewStore;
  let store: ViewStore;
  /** The ids that the store behind was asked for. */
  let asked: string[];

  beforeEach(() => {
    asked = [];
    stored = createSqliteReadStore(':memory:');
    store = rememberDocuments({
      ...stored,
      load(of, ids) {
        asked.push(...ids);
        return stored.load(of, ids);
      },
    });
  });
  afterEach(() => store.close());

  const write = (id: string, revision: number, text: string) => ({ id, revision, document: { text } });
  const loaded = async (id: string) => (await store.load(view, [id])).get(id);

  it('are not read again by who changes them again', async () => {
    expect(await loaded('1')).toBeUndefined();
    await store.save(view, [write('1', 1, 'first')], 1);
    expect(await loaded('1')).toEqual(write('1', 1, 'first'));
    await store.save(view, [write('1', 2, 'second')], 2);
    expect(await loaded('1')).toEqual(write('1', 2, 'second'));
    expect(asked).toEqual(['1']);
    expect(await store.get(view, '1')).toEqual({ text: 'second' });
  });

  it('are only those of which the store can hold no newer ones', async () => {
    await stored.save(view, [write('1', 5, 'newer')], 5);
    await store.save(view, [write('1', 4, 'older')], 5);
    expect(await loaded('1')).toEqual(write('1', 5, 'newer'));
  });

  it('are forgotten where they are removed', async () => {
    await loaded('1');
    await store.save(view, [write('1', 1, 'first')], 1);
    await store.save(view, [{ id: '1', revision: 2, document: null }], 2);
    expect(await loaded('1')).toBeUndefined();
    expect(await store.get(view, '1')).toBeNull();
  });

  it('are forgotten where a write fails, and where the view is reset or replaced', async () => {
    const fill = async (): Promise<void> => {
      await loaded('1');
      await store.save(view, [write('1', 1, 'first')], 1);
      asked = [];
    };
    await fill();
    await expect(store.save(view, [], 3, 2)).rejects.toMatchObject({ reason: 'view_out_of_step' });
    await loaded('1');
    expect(asked).toEqual(['1']);
    await fill();
    await store.reset(view);
    expect(await store.get(view, '1')).toBeNull();
    await fill();
    const built: ViewDefinition = { name: 'built', fields: [], indexes: [] };
    await store.save(built, [write('1', 7, 'built')], 7);
    await store.replace(view, built);
    expect(await store.get(view, '1')).toEqual({ text: 'built' });
  });

  it('weigh about what their JSON does', () => {
    const document = { name: 'a'.repeat(100), list: ['b'.repeat(50), 1, null], deep: { text: 'c'.repeat(10) } };
    const { length } = JSON.stringify(document);
    expect(charactersOf(document)).toBeGreaterThan(length / 2);
    expect(charactersOf(document)).toBeLessThan(length * 2);
  });
});
