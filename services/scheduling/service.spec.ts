import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { OpenedBus } from '#bus/bus';
import { createSqliteBus } from '#bus/sqlite';
import { requests } from '#contracts/catalogue';
import { schedulesView, type ScheduleEvent } from '#contracts/schedule';
import type { TaskEvent } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import { decodeEvent, encodeEvents } from '#eventing/codec';
import { runService } from '#eventing/run-service';
import type { BackgroundWork } from '#eventing/service';
import type { EventMetadata, EventStore, NewEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSoleLeases } from '#leases/sole';
import type { Leases } from '#leases/leases';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import type { Clock } from '#runtime/clock';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { createDocumentState } from '#shared-state/document-state';
import { ChangeScheduleHandler } from './change-schedule.js';
import { createSchedulingService } from './service.js';

const taskId = 'ntf_00000000000000000000000001';
const stream = `task-${taskId}`;
const metadata: EventMetadata = {
  organizationId: 'org_00000000000000000000000001',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};
const hourly = { type: 'interval', intervalSeconds: 3_600, catchUp: 'latest' } as const;
const daily = { ...hourly, intervalSeconds: 86_400 };
const spec = aTask({ schedule: hourly });
const created: TaskEvent = { type: 'task.created', data: { spec, status: 'active', createdBy: 'key:key_1' } };

/** The instant of the events themselves: the reconciler, which corrects schedules without messages, is not due yet. */
const clock: Clock = { now: () => Date.parse(metadata.at) };

describe('the scheduling service', () => {
  let eventStore: EventStore;
  let readStore: ViewStore;
  let bus: OpenedBus;
  let leases: Leases;
  let running: BackgroundWork;
  beforeEach(async () => {
    eventStore = createSqliteEventStore(':memory:');
    readStore = createSqliteReadStore(':memory:');
    bus = createSqliteBus(':memory:', silentLogger);
    leases = createSoleLeases();
    const sharedState = createDocumentState(readStore);
    const commands = new ChangeScheduleHandler(eventStore, clock);
    const stores = { eventStore, readStore, sharedState };
    const ports = { ...stores, bus, leases, clock, logger: silentLogger, commands, queries: commands };
    running = await runService(createSchedulingService(ports), ports);
  });
  afterEach(async () => {
    await running.stop();
    await leases.close();
    await bus.close();
    await readStore.close();
    await eventStore.close();
  });

  const encoded = (event: TaskEvent, commandId: string): NewEvent => {
    const [one] = encodeEvents([event], { commandId, metadata });
    if (one === undefined) throw new Error('no event');
    return one;
  };
  const publish = (event: NewEvent, revision: number, content: NewEvent['data'], key = taskId): Promise<void> =>
    bus.publish('task', [
      { id: event.id, type: event.type, key, data: { ...content, taskId: key, revision }, metadata: event.metadata },
    ]);
  const planOf = async (id: string) => {
    const last = await eventStore.readLast(`schedule-${id}`);
    return last === null ? null : decodeEvent<ScheduleEvent>(last).data.plan;
  };
  it('plans the schedule of a task where the source event is in the event store', async () => {
    const event = encoded(created, 'c1');
    await eventStore.append(stream, [event], 'none');
    await publish(event, 0, { active: true, schedule: hourly });
    await found(async () => (await planOf(taskId))?.active === true);
  });

  it('ignores a task message whose source event is not in the event store', async () => {
    const event = encoded(created, 'c1');
    await eventStore.append(stream, [event], 'none');
    await publish(event, 0, { active: true, schedule: hourly });
    // Published before an older copy was put back; the change that came afterwards has its revision.
    const lost = encoded({ type: 'task.paused', data: {} }, 'lost');
    await publish(lost, 1, {});
    const change = encoded({ type: 'task.changed', data: { changes: { schedule: daily } } }, 'c2');
    await eventStore.append(stream, [change], 0);
    await publish(change, 1, { schedule: daily });
    await found(async () => {
      const plan = await planOf(taskId);
      return plan?.schedule.type === 'interval' && plan.schedule.intervalSeconds === daily.intervalSeconds;
    });
    expect((await planOf(taskId))?.active).toBe(true);
  });

  it('plans no schedule for a task that has no event', async () => {
    const unknown = 'ntf_00000000000000000000000002';
    const lost = encoded(created, 'lost');
    const known = encoded({ ...created, data: { ...created.data, spec: { ...spec, schedule: daily } } }, 'c1');
    await publish(lost, 0, { active: true, schedule: hourly }, unknown);
    // Handled after it: messages of one key go one after the other.
    await eventStore.append(`task-${unknown}`, [known], 'none');
    await publish(known, 0, { active: true, schedule: daily }, unknown);
    await found(async () => (await planOf(unknown)) !== null);
    expect((await planOf(unknown))?.schedule).toEqual(daily);
  });

  it('forgets the schedule of a purged task', async () => {
    const made = encoded(created, 'c1');
    await eventStore.append(stream, [made], 'none');
    await publish(made, 0, { active: true, schedule: hourly });
    await found(() => readStore.get(schedulesView, taskId));
    const [archived, purged] = [
      encoded({ type: 'task.archived', data: { externalKey: null } }, 'c2'),
      encoded({ type: 'task.purged', data: {} }, 'c3'),
    ];
    await eventStore.append(stream, [archived, purged], 0);
    await publish(archived, 1, {});
    await publish(purged, 2, {});
    await found(async () => (await eventStore.readLast(`schedule-${taskId}`))?.type === 'schedule.forgotten');
    expect(await planOf(taskId)).toMatchObject({ active: false, nextDueAt: null });
    // The view follows the log.
    await found(async () => (await readStore.get(schedulesView, taskId)) === null);
  });

  it('answers the request to run a task once: a repeated one finds its run requested', async () => {
    const { organizationId, actor, requestId } = metadata;
    const payload = { taskId, runId: 'exe_00000000000000000000000001', force: true, dryRun: false };
    const ask = () => bus.request(requests.scheduleTrigger, payload, { organizationId, actor, requestId });
    expect(await ask()).toMatchObject({ run: { ...payload, trigger: 'manual' }, position: expect.any(Number) });
    expect(await ask()).toEqual({ run: null, position: null });
    await expect(
      bus.request(requests.scheduleTrigger, { taskId }, { organizationId, actor, requestId }),
    ).rejects.toThrow('runId');
  });
});
