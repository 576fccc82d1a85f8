import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventArchive, EventStore, NewEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { JsonObject } from '#runtime/json';
import { createContentEraser } from './content-eraser.js';
import { createOwnerKeys, vaultStream, type OwnerKeys } from './owner-keys.js';
import { createSealedEvents } from './sealed-events.js';

const master = Buffer.alloc(32, 7);
const secretKey = Buffer.alloc(32, 8);
const metadata = {
  organizationId: 'org_1',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-01',
};

let count = 0;
function anEvent(type: string, data: JsonObject): NewEvent {
  count += 1;
  return { id: `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`, type, version: 1, data, metadata };
}

describe('sealed events', () => {
  let stored: EventArchive;
  let keys: OwnerKeys;
  let events: EventStore;
  beforeEach(() => {
    stored = createSqliteEventStore(':memory:', { secretKey });
    keys = createOwnerKeys(stored, master);
    events = createSealedEvents(stored, keys);
  });
  afterEach(() => stored.close());

  const canary = { text: 'canary', more: { price: 1 } };
  /** As another process reads it. */
  const afresh = () => createSealedEvents(stored, createOwnerKeys(stored, master));

  const purge = async (taskId: string): Promise<void> => {
    const last = await events.readLast(`task-${taskId}`);
    await events.append(`task-${taskId}`, [anEvent('task.purged', {})], last?.revision ?? 'none');
    await createContentEraser(stored, keys).erase(taskId);
  };

  it.each(['task-ntf_1', 'run-ntf_1', 'stats-ntf_1'])(
    'hold nothing in clear of what is appended to %s, and are read as they were',
    async (stream) => {
      await events.append(stream, [anEvent('a', canary), anEvent('b', { n: 2 })], 'none');
      expect(JSON.stringify(await Array.fromAsync(stored.read(stream)))).not.toContain('canary');
      for (const reader of [events, afresh()]) {
        const found = await Array.fromAsync(reader.read(stream));
        expect(found.map(({ type, data, revision }) => ({ type, data, revision }))).toEqual([
          { type: 'a', data: canary, revision: 0 },
          { type: 'b', data: { n: 2 }, revision: 1 },
        ]);
        expect((await reader.readLast(stream))?.data).toEqual({ n: 2 });
        expect((await everyEvent({ ...stored, ...reader })).filter((event) => event.stream === stream)).toEqual(found);
      }
    },
  );

  it('of a delivery are sealed with the key of its task', async () => {
    await events.append('dlv-1', [anEvent('delivery.requested', { request: { taskId: 'ntf_1', ...canary } })], 'none');
    await afresh().append('dlv-1', [anEvent('attempt.ended', { body: 'canary' })], 0);
    expect(JSON.stringify(await Array.fromAsync(stored.read('dlv-1')))).not.toContain('canary');
    expect((await afresh().readLast('dlv-1'))?.data).toEqual({ body: 'canary' });
    expect(await stored.readLast(vaultStream('ntf_1'))).not.toBeNull();
    await purge('ntf_1');
    expect(await Array.fromAsync(events.read('dlv-1'))).toEqual([]);
  });

  it('are packed before they are sealed, and long ones deflated too', async () => {
    const sealedLength = async (data: JsonObject, revision: 'none' | number): Promise<number> => {
      await events.append('task-ntf_1', [anEvent('a', data)], revision);
      const last = await stored.readLast('task-ntf_1');
      return JSON.stringify(last?.data ?? {}).length;
    };
    const short = {
      status: 'succeeded',
      outcome: false,
      startedAt: '2026-11-23T20:31:54.094Z',
      decision: { reason: 'not_true' },
    };
    const long = { text: 'some words that come again '.repeat(100) };
    expect(await sealedLength(short, 'none')).toBeLessThan(JSON.stringify(short).length);
    expect(await sealedLength(long, 0)).toBeLessThan(200);
    const read = await Array.fromAsync(afresh().read('task-ntf_1'));
    expect(read.map(({ data }) => data)).toEqual([short, long]);
  });

  it('of before are read as they are, in clear', async () => {
    await stored.append('run-ntf_1', [anEvent('a', canary)], 'none');
    await stored.append('dlv-1', [anEvent('delivery.requested', { request: { taskId: 'ntf_1' } })], 'none');
    await events.append('run-ntf_1', [anEvent('b', canary)], 0);
    await events.append('dlv-1', [anEvent('attempt.ended', { body: 'canary' })], 0);
    expect((await Array.fromAsync(events.read('run-ntf_1'))).map(({ data }) => data)).toEqual([canary, canary]);
    expect((await stored.readLast('dlv-1'))?.data).toMatchObject({ owner: 'ntf_1' });
  });

  it('leave other streams as they are', async () => {
    await events.append('schedule-ntf_1', [anEvent('a', canary)], 'none');
    await events.append('key-key_1', [anEvent('a', canary)], 'none');
    expect((await stored.readLast('schedule-ntf_1'))?.data).toEqual(canary);
    expect((await stored.readLast('key-key_1'))?.data).toEqual(canary);
  });

  it('that were appended twice are answered as the first time', async () => {
    const event = anEvent('a', canary);
    await events.append('task-ntf_1', [event], 'none');
    expect(await events.append('task-ntf_1', [event], 'none')).toMatchObject({ ok: true, revision: 0 });
  });

  it('of a purged task are passed over, and are not hidden from who asks for all', async () => {
    await events.append('task-ntf_1', [anEvent('task.created', canary)], 'none');
    await events.append('task-ntf_2', [anEvent('task.created', canary)], 'none');
    await events.append('run-ntf_1', [anEvent('run.recorded', canary)], 'none');
    await purge('ntf_1');
    for (const reader of [events, afresh()]) {
      const left = await everyEvent({ ...stored, ...reader });
      expect(left.filter(({ stream }) => stream.endsWith('ntf_1') && !stream.startsWith('vault-'))).toMatchObject([
        { type: 'task.purged', data: {} },
      ]);
      expect(left.some(({ stream }) => stream === 'task-ntf_2')).toBe(true);
      expect(await reader.readLast('run-ntf_1')).toBeNull();
      const all = await Array.fromAsync(reader.read('task-ntf_1', 0, { includesPurged: true }));
      expect(all.map(({ type, data }) => ({ type, data }))).toEqual([
        { type: 'task.created', data: {} },
        { type: 'task.purged', data: {} },
      ]);
      expect(all.map(({ isPurged }) => isPurged)).toEqual([true, undefined]);
    }
  });

  it('are not added to a purged task: it gets no second key', async () => {
    await events.append('task-ntf_1', [anEvent('task.created', canary)], 'none');
    await purge('ntf_1');
    await expect(events.append('run-ntf_1', [anEvent('run.recorded', canary)], 'none')).rejects.toMatchObject({
      reason: 'purged',
    });
    // Nor where it never had one.
    await stored.append('task-ntf_3', [anEvent('task.purged', {})], 'none');
    await expect(events.append('run-ntf_3', [anEvent('run.recorded', canary)], 'none')).rejects.toMatchObject({
      reason: 'purged',
    });
  });

  it('whose key is gone without a purge are a fault and no silence', async () => {
    await events.append('run-ntf_1', [anEvent('run.recorded', canary)], 'none');
    const reader = createSealedEvents(stored, { ...keys, known: () => undefined, find: async () => null });
    await expect(reader.readLast('run-ntf_1')).rejects.toMatchObject({ reason: 'secret_unreadable' });
    await expect(everyEvent({ ...stored, ...reader })).rejects.toMatchObject({ reason: 'secret_unreadable' });
  });

  it('that were moved to another place cannot be opened', async () => {
    await events.append('run-ntf_1', [anEvent('run.recorded', canary)], 'none');
    const last = await stored.readLast('run-ntf_1');
    await stored.append('task-ntf_1', [anEvent('run.recorded', structuredClone(last?.data ?? {}))], 'none');
    await expect(events.readLast('task-ntf_1')).rejects.toMatchObject({ reason: 'secret_unreadable' });
  });
});
