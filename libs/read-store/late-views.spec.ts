import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { unavailable } from '#runtime/errors';
import { createLateViews } from './late-views.js';
import type { ReadStore } from './read-store.js';
import { createSqliteReadStore } from './sqlite.js';

const things = { name: 'things', fields: [], indexes: [] };
const others = { name: 'others', fields: [], indexes: [] };

describe('whether views have seen what had happened before the start', () => {
  let readStore: ReadStore;
  let lastPosition: number | null;
  const eventStore = { lastPosition: () => Promise.resolve(lastPosition) };

  beforeEach(() => {
    readStore = createSqliteReadStore(':memory:');
    lastPosition = 7;
  });
  afterEach(() => readStore.close());

  it('those that have not are late, whatever happens from then on', async () => {
    const views = createLateViews(readStore, eventStore, [things, others]);
    lastPosition = 9;
    await readStore.save(things, [], 7);
    await readStore.save(others, [], 3);
    expect(await views.late()).toEqual(['others']);
    await readStore.save(others, [], 6, 3);
    expect(await views.late()).toEqual(['others']);
    await readStore.save(others, [], 7, 6);
    expect(await views.late()).toEqual([]);
  });

  it('one that stands still for half a minute is waited for no longer, one that moves is', async () => {
    let now = 0;
    const views = createLateViews(readStore, eventStore, [things, others], () => now);
    await readStore.save(things, [], 1);
    await readStore.save(others, [], 1);
    expect(await views.late()).toEqual(['things', 'others']);
    now = 29_000;
    await readStore.save(things, [], 2, 1);
    expect(await views.late()).toEqual(['things', 'others']);
    now = 30_000;
    expect(await views.late()).toEqual(['things']);
  });

  it('those that few or only sweeps read are not waited for, nor is any where nothing has happened', async () => {
    const seldom = { ...things, readByFew: true } as const;
    const swept = { ...others, isReadBySweeps: true } as const;
    expect(await createLateViews(readStore, eventStore, [seldom, swept]).late()).toEqual([]);
    lastPosition = null;
    expect(await createLateViews(readStore, eventStore, [things]).late()).toEqual([]);
  });

  it('where the event store did not answer at the start it is asked again', async () => {
    let isAway = true;
    const away = unavailable('event_store_unavailable', 'The event store does not answer.');
    const store = { lastPosition: () => (isAway ? Promise.reject(away) : Promise.resolve(lastPosition)) };
    const views = createLateViews(readStore, store, [things]);
    await expect(views.late()).rejects.toThrow(away);
    isAway = false;
    expect(await views.late()).toEqual(['things']);
  });
});
