import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TaskEvent } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import { encodeEvents } from '#eventing/codec';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import { runCommand } from '#eventing/run-command';
import { createSqliteEventStore } from '#event-store/sqlite';
import { scheduleDecider, type ScheduleCommand } from './domain/schedule.js';
import { reconcile } from './schedule-reconciler.js';

const taskId = 'ntf_00000000000000000000000001';
const start = Date.parse('2026-11-21T10:00:00.000Z');
const metadata: EventMetadata = {
  organizationId: 'org_00000000000000000000000001',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};
const spec = aTask({ schedule: { type: 'interval', intervalSeconds: 10, catchUp: 'latest' } });
const created: TaskEvent = { type: 'task.created', data: { spec, status: 'active', createdBy: 'key:key_1' } };

describe('a schedule whose task messages were lost', () => {
  let eventStore: EventStore;
  beforeEach(() => {
    eventStore = createSqliteEventStore(':memory:');
  });
  afterEach(() => eventStore.close());

  const schedule = (command: ScheduleCommand, commandId: string) =>
    runCommand(eventStore, scheduleDecider, {
      stream: `schedule-${taskId}`,
      command,
      commandId,
      metadata,
      from: 'last',
    });

  const record = async (...events: readonly TaskEvent[]): Promise<void> => {
    for (const event of events) {
      const last = await eventStore.readLast(`task-${taskId}`);
      const commandId = `c${last?.revision ?? -1}`;
      await eventStore.append(
        `task-${taskId}`,
        encodeEvents([event], { commandId, metadata }),
        last?.revision ?? 'none',
      );
    }
  };

  /** How many schedules were not right, and the plan afterwards. */
  const reconcileAll = async (): Promise<{ readonly changed: number; readonly plan: unknown }> => {
    const events = await Array.fromAsync(eventStore.read(`task-${taskId}`));
    const changed = await reconcile(
      {
        eventStore,
        clock: { now: () => start + 40_000 },
        correct: async (_, command, last) => (await schedule(command, `${last.id}|late`)).events.length > 0,
      },
      events,
    );
    return { changed, plan: (await eventStore.readLast(`schedule-${taskId}`))?.data['plan'] ?? null };
  };

  it('is planned from the events of the task', async () => {
    await record(created);
    expect(await reconcileAll()).toMatchObject({
      changed: 1,
      plan: { active: true, nextDueAt: '2026-11-21T10:00:40.000Z' },
    });
    expect((await reconcileAll()).changed).toBe(0);
  });

  it('is left as it is where the messages came', async () => {
    await record(created);
    const { schedule: wanted } = spec;
    await schedule({ type: 'planRuns', taskId, taskRevision: 0, schedule: wanted, active: true, nowMs: start }, 'm0');
    expect((await reconcileAll()).changed).toBe(0);
  });

  it('stops where a pause was lost and a later message came', async () => {
    await record(created, { type: 'task.paused', data: {} });
    const slower = { ...spec.schedule, intervalSeconds: 60 } as const;
    await record({ type: 'task.changed', data: { changes: { schedule: slower } } });
    await schedule(
      { type: 'planRuns', taskId, taskRevision: 0, schedule: spec.schedule, active: true, nowMs: start },
      'm0',
    );
    await schedule({ type: 'planRuns', taskId, taskRevision: 2, schedule: slower, nowMs: start }, 'm2');
    expect(await reconcileAll()).toMatchObject({
      changed: 1,
      plan: { active: false, nextDueAt: null, schedule: slower },
    });
  });

  it('stops for good where the archiving was lost', async () => {
    await record(created);
    await schedule(
      { type: 'planRuns', taskId, taskRevision: 0, schedule: spec.schedule, active: true, nowMs: start },
      'm0',
    );
    await record({ type: 'task.archived', data: { externalKey: null } });
    expect(await reconcileAll()).toMatchObject({ changed: 1, plan: { active: false, nextDueAt: null } });
    expect((await reconcileAll()).changed).toBe(0);
  });

  it('is forgotten where the purge was lost', async () => {
    await record(created);
    await schedule(
      { type: 'planRuns', taskId, taskRevision: 0, schedule: spec.schedule, active: true, nowMs: start },
      'm0',
    );
    await record({ type: 'task.archived', data: { externalKey: null } }, { type: 'task.purged', data: {} });
    expect(await reconcileAll()).toMatchObject({ changed: 1, plan: { active: false, nextDueAt: null } });
    expect((await eventStore.readLast(`schedule-${taskId}`))?.type).toBe('schedule.forgotten');
    expect((await reconcileAll()).changed).toBe(0);
  });
});
