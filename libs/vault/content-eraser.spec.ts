import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createEventChain } from '#event-store/event-chain';
import type { EventArchive, EventStore, NewEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { beginIntegrity, findFaults, readIntegrityRecord } from '#eventing/integrity';
import type { JsonObject } from '#runtime/json';
import { createContentEraser } from './content-eraser.js';
import { createOwnerKeys, vaultStream, type OwnerKeys } from './owner-keys.js';
import { createSealedEvents } from './sealed-events.js';

const secretKey = Buffer.alloc(32, 8);
const metadata = {
  organizationId: 'org_1',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-01',
};
const canary = { text: 'canary-text' };

let count = 0;
function anEvent(type: string, data: JsonObject): NewEvent {
  count += 1;
  return { id: `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`, type, version: 1, data, metadata };
}

describe('what a purged task held', () => {
  let folder: string;
  let stored: EventArchive;
  let keys: OwnerKeys;
  let events: EventStore;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meerkat-erase-'));
    stored = createSqliteEventStore(join(folder, 'events.db'), { secretKey });
    keys = createOwnerKeys(stored, secretKey);
    events = createSealedEvents(stored, keys);
    await beginIntegrity(stored, createEventChain(secretKey), '2026-11-01T00:00:00.000Z');
  });
  afterEach(async () => {
    await stored.close();
    await rm(folder, { recursive: true, force: true });
  });

  const filesWith = async (text: string): Promise<string[]> => {
    const names = await readdir(folder);
    const bytes = await Promise.all(names.map((name) => readFile(join(folder, name))));
    return names.filter((_, index) => bytes[index]?.includes(text) === true);
  };
  const faults = async () => {
    const record = await readIntegrityRecord(stored.stored, secretKey);
    const end = (await stored.lastPosition()) ?? 0;
    const search = { after: null, end };
    return Array.fromAsync(findFaults(stored.stored, record, search), ({ what, event }) => `${what} ${event.stream}`);
  };
  const erase = () => createContentEraser(stored, keys).erase('ntf_1');

  it('in events of a version that sealed none is in no file any more, and every MAC holds', async () => {
    await stored.append('task-ntf_1', [anEvent('task.created', canary), anEvent('task.changed', canary)], 'none');
    await stored.append('run-ntf_1', [anEvent('run.recorded', canary)], 'none');
    await stored.append('dlv-1', [anEvent('delivery.requested', { request: { taskId: 'ntf_1', ...canary } })], 'none');
    await stored.append(
      'dlv-2',
      [anEvent('delivery.requested', { request: { taskId: 'ntf_2', keep: 'kept-text' } })],
      'none',
    );
    await events.append('run-ntf_1', [anEvent('run.recorded', canary)], 0);
    await events.append('task-ntf_1', [anEvent('task.purged', {})], 1);
    expect(await filesWith('canary-text')).not.toEqual([]);
    await erase();
    expect(await filesWith('canary-text')).toEqual([]);
    expect(await filesWith('kept-text')).not.toEqual([]);
    expect(await faults()).toEqual([]);
    expect(await Array.fromAsync(events.read('run-ntf_1'))).toEqual([]);
    expect((await Array.fromAsync(events.read('dlv-2'))).length).toBe(1);
  });

  it('is sealed with a key that is gone from the file as well', async () => {
    await events.append('task-ntf_1', [anEvent('task.created', canary)], 'none');
    const made = await stored.readLast(vaultStream('ntf_1'));
    const { wrapped } = z.object({ wrapped: z.string() }).parse(made?.data);
    await events.append('task-ntf_1', [anEvent('task.purged', {})], 0);
    expect(await filesWith(wrapped)).not.toEqual([]);
    await erase();
    expect(await filesWith(wrapped)).toEqual([]);
    expect(await faults()).toEqual([]);
  });

  it('is erased once: the same again changes nothing', async () => {
    await events.append('task-ntf_1', [anEvent('task.created', canary), anEvent('task.purged', {})], 'none');
    await erase();
    const end = await stored.lastPosition();
    await erase();
    expect(await stored.lastPosition()).toBe(end);
  });

  it('cannot be taken out by somebody else under the name of a purge', async () => {
    await events.append('task-ntf_1', [anEvent('task.created', canary)], 'none');
    await stored.erase('task-ntf_1', 0);
    expect(await faults()).toEqual(['altered task-ntf_1']);
  });
});
