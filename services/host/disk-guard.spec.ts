import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  refusingUnwritable,
  snapshotsRefusingUnwritable,
  watchDiskSpace,
  watchedFolder,
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
  let isGone: boolean;
  let logged: string[];
  let stores: { readonly eventStore: EventStore; readonly snapshots: Snapshots };
  const note = (_fields: object, line: string): void => void logged.push(line);
  const folder = { freeBytes: async () => freeBytes, isGone: async () => isGone };
  const watch = () => watchDiskSpace(folder, { ...silentLogger, error: note, warn: note, info: note });
  beforeEach(() => {
    freeBytes = 2 * nearlyFullBelowBytes;
    isGone = false;
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
    const { eventStore } = refusingUnwritable(stores, disk);
    const snapshots = snapshotsRefusingUnwritable(stores.snapshots, disk);
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
    const fail = () => Promise.reject(new Error('cannot be read'));
    const failing = await watchDiskSpace({ freeBytes: fail, isGone: fail }, silentLogger);
    expect({ disk: disk.state, failing: failing.state }).toEqual({ disk: 'full', failing: 'ok' });
    disk.stop();
    failing.stop();
  });

  it('refuses events and pages while the data folder is gone, and takes them again once it is back', async () => {
    const disk = await watch();
    const { eventStore } = refusingUnwritable(stores, disk);
    const snapshots = snapshotsRefusingUnwritable(stores.snapshots, disk);
    isGone = true;
    await disk.measure();
    const refused = { code: 'SERVER_ERROR', reason: 'data_folder_gone' };
    await expect(eventStore.append('s', [eventOf('e1')], 'none')).rejects.toMatchObject(refused);
    await expect(snapshots.save({} as never, new Uint8Array())).rejects.toMatchObject(refused);
    isGone = false;
    await disk.measure();
    expect(await eventStore.append('s', [eventOf('e1')], 'none')).toMatchObject({ ok: true });
    expect(logged).toEqual([
      expect.stringMatching(/^the data folder or a database in it was removed, moved or replaced under this process/),
      'the data folder is back',
    ]);
    disk.stop();
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

describe('the watched data folder', () => {
  let path: string;
  let outside: string;
  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), 'meerkat-watched-'));
    path = join(outside, 'data');
    mkdirSync(path);
    writeFileSync(join(path, 'events.db'), '');
  });
  afterEach(() => rmSync(outside, { recursive: true, force: true }));

  const again = (file: string): void => {
    // The old one stays, so that the new one cannot get its number.
    renameSync(file, join(outside, 'old'));
    writeFileSync(file, '');
  };
  it.each([
    ['it is removed', () => rmSync(path, { recursive: true })],
    ['it is moved', () => renameSync(path, join(outside, 'moved'))],
    ['its events are removed', () => rmSync(join(path, 'events.db'))],
    ['its events are replaced', () => again(join(path, 'events.db'))],
  ])('is gone once %s', async (_, happens) => {
    const folder = await watchedFolder(path);
    expect(await folder.isGone()).toBe(false);
    happens();
    expect(await folder.isGone()).toBe(true);
  });

  it('is there where it was moved and put back, where its events grew and where a database came to it', async () => {
    const folder = await watchedFolder(path);
    renameSync(path, join(outside, 'moved'));
    renameSync(join(outside, 'moved'), path);
    writeFileSync(join(path, 'events.db'), 'more');
    writeFileSync(join(path, 'views.db'), '');
    expect(await folder.isGone()).toBe(false);
  });
});
