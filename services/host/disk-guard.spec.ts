import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { silentLogger } from '#runtime/logger';
import type { Snapshots } from '#snapshots/snapshots';
import { createSqliteSnapshots } from '#snapshots/sqlite';
import {
  diskStateOf,
  fullBelowBytes,
  nearlyFullBelowBytes,
  refusingWhenFull,
  snapshotsRefusingWhenFull,
  watchDiskSpace,
} from './disk-guard.js';

const metadata = {
  organizationId: 'org_1',
  actor: 'a',
  requestId: 'r',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};
const eventOf = (id: string) => ({ id, type: 'task.created', version: 1, data: {}, metadata });

describe('the disk guard', () => {
  let freeBytes: number;
  let logged: string[];
  let stores: { readonly eventStore: EventStore; readonly snapshots: Snapshots };
  const note = (_fields: object, line: string): void => void logged.push(line);
  const watch = () => watchDiskSpace(async () => freeBytes, { ...silentLogger, error: note, warn: note, info: note });
  beforeEach(() => {
    freeBytes = 2 * nearlyFullBelowBytes;
    logged = [];
    stores = {
      eventStore: createSqliteEventStore(':memory:'),
      snapshots: createSqliteSnapshots(':memory:', { keepCount: 1, keepDays: 1 }),
    };
  });
  afterEach(async () => {
    await stores.eventStore.close();
    await stores.snapshots.close();
  });

  it('refuses events and pages while less than the reserve is free, and takes them again once there is room', async () => {
    const disk = await watch();
    const { eventStore } = refusingWhenFull(stores, disk);
    const snapshots = snapshotsRefusingWhenFull(stores.snapshots, disk);
    expect(await eventStore.append('s', [eventOf('e1')], 'none')).toMatchObject({ ok: true });
    freeBytes = fullBelowBytes - 1;
    await disk.measure();
    const refused = { code: 'SERVER_ERROR', reason: 'disk_full' };
    await expect(eventStore.append('s', [eventOf('e2')], 0)).rejects.toMatchObject(refused);
    await expect(snapshots.save({} as never, new Uint8Array())).rejects.toMatchObject(refused);
    expect((await eventStore.readLast('s'))?.id).toBe('e1');
    freeBytes = 2 * nearlyFullBelowBytes;
    await disk.measure();
    expect(await eventStore.append('s', [eventOf('e2')], 0)).toMatchObject({ ok: true });
    expect(logged).toEqual(['the disk is full: writes are refused until there is room', 'the disk has room again']);
    disk.stop();
  });

  it('keeps the last state where the disk cannot be measured', async () => {
    freeBytes = fullBelowBytes - 1;
    const disk = await watch();
    freeBytes = Number.NaN;
    const failing = await watchDiskSpace(() => Promise.reject(new Error('gone')), silentLogger);
    expect({ disk: disk.state, failing: failing.state }).toEqual({ disk: 'full', failing: 'ok' });
    disk.stop();
    failing.stop();
  });

  it.each([
    [fullBelowBytes - 1, 'full'],
    [fullBelowBytes, 'nearly_full'],
    [nearlyFullBelowBytes - 1, 'nearly_full'],
    [nearlyFullBelowBytes, 'ok'],
  ])('calls a disk with %d free bytes %s', (bytes, state) => {
    expect(diskStateOf(bytes)).toBe(state);
  });
});
