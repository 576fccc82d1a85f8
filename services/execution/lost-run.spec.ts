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

describe('a run that the bus tells of', () => {
  let eventStore: EventStore;
  const [first, second, lost] = [
    '00000000-0000-4000-8000-000000000001',
    '00000000-0000-4000-8000-000000000002',
    '00000000-0000-4000-8000-000000000003',
  ];
  const told = (causationId: string | null, revision?: number) => ({
    data: revision === undefined ? { run } : { run, revision },
    metadata: { ...metadata, causationId },
  });

  beforeEach(async () => {
    eventStore = createSqliteEventStore(':memory:');
    await eventStore.append(`schedule-${run.taskId}`, [fired(first), fired(second)], 'none');
  });
  afterEach(() => eventStore.close());

  it('counts where the event that made it due is on record', async () => {
    expect(await isLost(eventStore, run, told(second, 1))).toBe(false);
  });

  it('is lost where another event stands in that place, or none', async () => {
    expect(await isLost(eventStore, run, told(lost, 1))).toBe(true);
    expect(await isLost(eventStore, run, told(lost, 2))).toBe(true);
  });

  it('is lost where its task has no schedule on record', async () => {
    const taskId = 'ntf_00000000000000000000000002';
    expect(await isLost(eventStore, { ...run, taskId }, told(first, 0))).toBe(true);
  });

  it('counts where it is emitted again, or by a version that does not tell of the event', async () => {
    expect(await isLost(eventStore, run, told(null))).toBe(false);
    expect(await isLost(eventStore, run, told(lost))).toBe(false);
  });
});
