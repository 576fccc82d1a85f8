import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSoleLeases } from '#leases/sole';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { unavailable } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import type { Bus, BusMessage } from '#bus/bus';
import { publisherCheckpoint, startPublisher } from './publisher.js';

const checkpoint = publisherCheckpoint('spec');
const hourMs = 3_600_000;

describe('a publisher', () => {
  let eventStore: EventStore;
  let readStore: ViewStore;
  let published: string[];
  const bus = {
    relay: null,
    publish: async (_topic: string, messages: readonly BusMessage[]) =>
      void published.push(...messages.map(({ id }) => id)),
  } as Pick<Bus, 'publish' | 'relay'> as Bus;

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
  const appendAgo = async (id: string, agoMs: number): Promise<void> => {
    const at = new Date(Date.now() - agoMs).toISOString();
    const metadata = { organizationId: '', actor: 'system:spec' as const, requestId: '', causationId: null, at };
    await eventStore.append(`a-${id}`, [{ id, type: 'happened', version: 1, data: {}, metadata }], 'none');
  };
  const told = (count: number) => found(async () => published.length === count);
  const start = (store: ViewStore = readStore) =>
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

  it('publishes in order, and nothing twice after an orderly stop', async () => {
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

  it('keeps publishing while its checkpoint cannot be stored, and stores it as soon as it can', async () => {
    let isAway = true;
    const flaky: ViewStore = {
      ...readStore,
      save: (view, writes, ...more) =>
        isAway ? Promise.reject(unavailable('read_store_unavailable', 'away')) : readStore.save(view, writes, ...more),
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

  it('resumes at its checkpoint, however old the next event is', async () => {
    await appendAgo('old', 400 * hourMs);
    await readStore.save(checkpoint, [], 1);
    await appendAgo('older', 500 * hourMs);
    const publisher = start();
    await told(1);
    await publisher.stop();
    expect(published).toEqual(['older']);
  });

  it('without a checkpoint republishes recent events, and no old ones', async () => {
    await appendAgo('long ago', 30 * 24 * hourMs);
    await appendAgo('two hours ago', 2 * hourMs);
    await appendAgo('news', hourMs / 2);
    const publisher = start();
    await told(1);
    await appendAgo('after it', 0);
    await told(2);
    await publisher.stop();
    expect(published).toEqual(['news', 'after it']);
    expect(await readStore.seen(checkpoint)).toMatchObject({ position: 4, event: { id: 'after it' } });
  });

  it('publishes new events after an event store rewind', async () => {
    await appendAgo('kept', 400 * hourMs);
    // It had seen more.
    await readStore.save(checkpoint, [], 7);
    const publisher = start();
    await appendAgo('new', 0);
    await told(1);
    await publisher.stop();
    expect(published).toEqual(['new']);
    expect(await readStore.checkpoint(checkpoint)).toBe(2);
  });

  describe('that relays', () => {
    /** What was relayed and is not settled. */
    let open: Map<string, () => void>;
    const relaying = {
      relay: async (_topic: string, messages: readonly BusMessage[], settled: () => void) => {
        published.push(...messages.map(({ id }) => id));
        open.set(messages.map(({ id }) => id).join(), settled);
      },
    } as Pick<Bus, 'relay'> as Bus;
    const startRelaying = () =>
      startPublisher({
        name: 'spec',
        prefixes: ['a-'],
        topic: 'spec',
        eventStore,
        readStore,
        bus: relaying,
        leases: createSoleLeases(),
        logger: silentLogger,
        toMessages: ({ id, type, data, metadata }) => [{ id, type, key: id, data, metadata }],
      });
    beforeEach(() => {
      open = new Map();
    });

    it('counts what was settled, up to the first message that was not', async () => {
      const publisher = startRelaying();
      for (const id of ['1', '2', '3']) {
        await append(id);
        await told(Number(id));
      }
      open.get('1')?.();
      open.get('3')?.();
      await publisher.stop();
      expect(await readStore.checkpoint(checkpoint)).toBe(1);
    });

    it('relays again after a start what was not settled', async () => {
      const first = startRelaying();
      for (const id of ['1', '2']) {
        await append(id);
        await told(Number(id));
      }
      open.get('1')?.();
      await first.stop();
      const second = startRelaying();
      await told(3);
      await second.stop();
      expect(published).toEqual(['1', '2', '2']);
    });
  });
});
