import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createBuiltViews } from './built-views.js';
import type { ReadStore } from './read-store.js';
import { createSqliteReadStore } from './sqlite.js';

const things = { name: 'things', fields: [], indexes: [] };
const others = { name: 'others', fields: [], indexes: [] };

describe('whether views are built', () => {
  let readStore: ReadStore;
  let lastPosition: number | null;
  const eventStore = { lastPosition: () => Promise.resolve(lastPosition) };

  beforeEach(() => {
    readStore = createSqliteReadStore(':memory:');
    lastPosition = 7;
  });
  afterEach(() => readStore.close());

  it('those that have seen nothing of a history are not', async () => {
    const built = createBuiltViews(readStore, eventStore, [things, others]);
    await readStore.save(things, [], 7);
    expect(await built.unbuilt()).toEqual(['others']);
    await readStore.save(others, [], 3);
    expect(await built.unbuilt()).toEqual([]);
  });

  it('those that few read are asked for by name', async () => {
    const seldom = { ...others, readByFew: true } as const;
    const built = createBuiltViews(readStore, eventStore, [things, seldom]);
    await readStore.save(things, [], 7);
    expect(await built.unbuilt()).toEqual([]);
    expect(await built.unbuilt(['others'])).toEqual(['others']);
    await readStore.save(others, [], 7);
    expect(await built.unbuilt(['others'])).toEqual([]);
  });

  it('one that is not built stays so, however many ask at once', async () => {
    await readStore.save(things, [], 7);
    const first = Promise.withResolvers<void>();
    let asked = 0;
    const slow: Pick<ReadStore, 'checkpoint'> = {
      async checkpoint(view) {
        // The second question is answered after the first one has been.
        asked += 1;
        if (asked > 2) await first.promise;
        return readStore.checkpoint(view);
      },
    };
    const built = createBuiltViews(slow, eventStore, [things, others]);
    const both = [built.unbuilt(), built.unbuilt()];
    expect(await both[0]).toEqual(['others']);
    first.resolve();
    expect(await both[1]).toEqual(['others']);
  });

  it('where nothing has happened yet there is nothing to build, then or later', async () => {
    lastPosition = null;
    const built = createBuiltViews(readStore, eventStore, [things]);
    expect(await built.unbuilt()).toEqual([]);
    lastPosition = 1;
    expect(await built.unbuilt()).toEqual([]);
  });
});
