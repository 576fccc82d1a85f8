import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSoleLeases } from '#leases/sole';
import type { ReadStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { unavailable } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import type { Bus, BusMessage } from './bus.js';
import { startPublisher } from './publisher.js';

const checkpoint = { name: 'published_spec', fields: [], indexes: [] };

describe('a publisher', () => {
  let eventStore: EventStore;
  let readStore: ReadStore;
  let published: string[];
  const bus = {
    publish: async (_topic: string, messages: readonly BusMessage[]) =>
      void published.push(...messages.map(({ id }) => id)),
  } as Pick<Bus, 'publish'> as Bus;

  beforeEach(() => {
    eventStore = createSqliteEventStore(':memory:');
    readStore = createSqliteReadStore(':memory:');
    published = [];
  });
  afterEach(() => Promise.all([eventStore.close(), readStore.close()]));

  const append = async (...ids: readonly string[]): Promise<void> => {
    const metadata = { organizationId: '', actor: 'system:spec' as const, requestId: '', causationId: null, at: '' };
    for (const id of ids) {
      await eventStore.append(`a-${id}`, [{ id, type: 'happened', version: 1, data: {}, metadata }], 'none');
    }
  };
  const told = (count: number) => found(async () => published.length === count);
  const start = (store: ReadStore = readStore) =>
    startPublisher({
      name: 'spec',
      prefixes: ['a-'],
      topic: 'spec',
      eventStore,
      readStore: store,
      bus,
      leases: createSoleLeases(),
      logger: silentLogger,
      toMessages: ({ id, type, data, metadata }) => [{ id, type, key: id, data, metadata }],
    });

  it('tells in order, and after an orderly end nothing twice', async () => {
    await append('1', '2', '3');
    const first = start();
    await told(3);
    await append('4');
    await told(4);
    await first.stop();
    await append('5');
    const second = start();
    await told(5);
    await second.stop();
    expect(published).toEqual(['1', '2', '3', '4', '5']);
  });

  it('goes on telling while its place cannot be stored, and stores it as soon as it can', async () => {
    let isAway = true;
    const flaky: ReadStore = {
      ...readStore,
      save: (view, writes, position) =>
        isAway ? Promise.reject(unavailable('read_store_unavailable', 'away')) : readStore.save(view, writes, position),
    };
    await append('1');
    const publisher = start(flaky);
    await told(1);
    await append('2');
    await told(2);
    expect(await readStore.checkpoint(checkpoint)).toBeNull();
    isAway = false;
    await found(() => readStore.checkpoint(checkpoint));
    await publisher.stop();
    expect(published).toEqual(['1', '2']);
  });
});
