import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventArchive, EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { createContentEraser } from './content-eraser.js';
import { followDroppedKeys } from './dropped-keys.js';
import { createOwnerKeys, type OwnerKeys } from './owner-keys.js';
import { createSealedEvents } from './sealed-events.js';

const secretKey = Buffer.alloc(32, 7);
const owner = 'ntf_01jz0000000000000000000000';
const metadata = { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '2026-11-01T00:00:00.000Z' };
const event = (type: string) => ({ id: crypto.randomUUID(), type, version: 1, data: { name: 'canary' }, metadata });

describe('a key that is in the memory of another process', () => {
  let stored: EventArchive;
  let others: OwnerKeys;
  let theirs: EventStore;
  const stops: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    stored = createSqliteEventStore(':memory:', { secretKey });
    others = createOwnerKeys(stored, secretKey);
    theirs = createSealedEvents(stored, others);
    await theirs.append(`run-${owner}`, [event('run.recorded')], 'none');
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await stored.close();
  });

  async function purge(): Promise<void> {
    const keys = createOwnerKeys(stored, secretKey);
    const sealed = createSealedEvents(stored, keys);
    await sealed.append(`task-${owner}`, [event('task.created'), { ...event('task.purged'), data: {} }], 'none');
    await createContentEraser(stored, keys).erase(owner);
  }

  it('opens nothing and seals nothing once it was dropped', async () => {
    const { stop } = followDroppedKeys({ eventStore: stored, keys: others, logger: silentLogger }, null);
    stops.push(stop);
    expect(others.known(owner)).toBeDefined();
    await purge();
    await found(async () => others.known(owner) === undefined);
    expect(await Array.fromAsync(theirs.read(`run-${owner}`))).toEqual([]);
    await expect(theirs.append(`run-${owner}`, [event('run.recorded')], 0)).rejects.toMatchObject({ reason: 'purged' });
  });

  it('is dropped too after the event store was away', async () => {
    let failures = 2;
    const eventStore: Pick<EventStore, 'subscribe'> = {
      subscribe(subscription) {
        failures -= 1;
        if (failures >= 0) throw new Error('away');
        return stored.subscribe(subscription);
      },
    };
    await purge();
    expect(others.known(owner)).toBeDefined();
    const { stop } = followDroppedKeys({ eventStore, keys: others, logger: silentLogger }, null);
    stops.push(stop);
    await found(async () => others.known(owner) === undefined);
  });
});
