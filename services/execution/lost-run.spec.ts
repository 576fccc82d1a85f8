import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DueRun } from '#contracts/schedule';
import type { EventMetadata, EventStore, NewEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { isLost } from './lost-run.js';

const run: DueRun = {
  runId: 'exe_00000000000000000000000001',
  taskId: 'ntf_00000000000000000000000001',
  trigger: 'schedule',
  scheduledFor: '2026-11-21T10:00:00.000Z',
  queuedAt: '2026-11-21T10:00:00.000Z',
  force: false,
  dryRun: false,
};
const metadata: EventMetadata = {
  organizationId: 'org_00000000000000000000000001',
  actor: 'system:scheduling',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};
const fired = (id: string): NewEvent => ({ id, type: 'slot.fired', version: 1, data: {}, metadata });

describe('a due run from the bus', () => {
  let eventStore: EventStore;
  const [first, second, lost] = [
    '00000000-0000-4000-8000-000000000001',
    '00000000-0000-4000-8000-000000000002',
    '00000000-0000-4000-8000-000000000003',
  ];
  const messageOf = (causationId: string | null, revision?: number) => ({
    data: revision === undefined ? { run } : { run, revision },
    metadata: { ...metadata, causationId },
  });

  beforeEach(async () => {
    eventStore = createSqliteEventStore(':memory:');
    await eventStore.append(`schedule-${run.taskId}`, [fired(first), fired(second)], 'none');
  });
  afterEach(() => eventStore.close());

  it('is not lost where its source event is in the event store', async () => {
    expect(await isLost(eventStore, run, messageOf(second, 1))).toBe(false);
  });

  it('is lost where another event or none has that revision', async () => {
    expect(await isLost(eventStore, run, messageOf(lost, 1))).toBe(true);
    expect(await isLost(eventStore, run, messageOf(lost, 2))).toBe(true);
  });

  it('is lost where its task has no schedule in the event store', async () => {
    const taskId = 'ntf_00000000000000000000000002';
    expect(await isLost(eventStore, { ...run, taskId }, messageOf(first, 0))).toBe(true);
  });

  it('is not lost where its message names no source event', async () => {
    expect(await isLost(eventStore, run, messageOf(null))).toBe(false);
    expect(await isLost(eventStore, run, messageOf(lost))).toBe(false);
  });
});
