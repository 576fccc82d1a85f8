import { describe, expect, it } from '@jest/globals';
import { frozenEvents } from '#contracts/frozen-events.kit';
import { scheduleStream } from '#contracts/schedule';
import { attentionOf, taskStream, type TaskDocument } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import type { EventMetadata, RecordedEvent } from '#event-store/event-store';
import type { JsonObject } from '#runtime/json';
import { tasksProjection } from './task-view.js';

const taskId = 'ntf_01kam000000000000000000001';
const at = (second: number): string => new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();
const metadata: EventMetadata = {
  organizationId: 'org_01kam000000000000000000001',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: at(0),
};
const recordedRun = frozenEvents().find(({ name }) => name === 'run.recorded.v1.json')?.read ?? {};

/** The document after these events, each a type and its data. */
function after(...events: readonly (readonly [type: string, data: JsonObject])[]): TaskDocument | null {
  return events.reduce<TaskDocument | null>((document, [type, data], index) => {
    const stream = type.startsWith('run.')
      ? `run-${taskId}`
      : type.startsWith('schedule.')
        ? scheduleStream(taskId)
        : taskStream(taskId);
    const event: RecordedEvent = {
      id: `e${index}`,
      stream,
      type,
      version: 1,
      data,
      metadata: { ...metadata, at: at(index * 60) },
      revision: index,
      position: index,
    };
    return tasksProjection.reduce(document, event);
  }, null);
}

const created = ['task.created', { spec: aTask(), status: 'active', createdBy: 'key:key_1' } as JsonObject] as const;

/** A run that ended then, with what it found. */
function run(second: number, condition: string, health = 'ok', more: JsonObject = {}) {
  const { result, alert } = recordedRun as { result: JsonObject; alert: JsonObject };
  const data = {
    ...recordedRun,
    result: { ...result, finishedAt: at(second), error: null, ...more },
    alert: { ...alert, condition, health, codeRevision: 0, flapping: false },
  };
  return ['run.recorded', data] as const;
}

const trueSince = (second: number, health = 'ok'): number =>
  attentionOf({ health, condition: 'true' }, Date.parse(at(second)));

describe('the attention of a task', () => {
  it('is that of the time since when its condition is true', () => {
    expect(after(created)?.attention).toBe(0);
    expect(after(created, run(1, 'false'))?.attention).toBe(0);
    expect(after(created, run(1, 'true'), run(2, 'true'))?.attention).toBe(trueSince(1));
    expect(after(created, run(1, 'true'), run(2, 'false'))?.attention).toBe(0);
    expect(after(created, run(1, 'true'), run(2, 'false'), run(3, 'true'))?.attention).toBe(trueSince(3));
  });

  it('is kept by a change of the settings, and lost by a change of the code', () => {
    const renamed = ['task.changed', { changes: { name: 'Cost' } }] as const;
    const recoded = ['task.changed', { changes: { evaluationFunction: 'false' } }] as const;
    expect(after(created, run(1, 'true'), renamed)?.attention).toBe(trueSince(1));
    expect(after(created, run(1, 'true'), recoded)?.attention).toBe(0);
  });

  it('ranks a task that cannot be checked before one that flaps, and that before one that is true', () => {
    const failing = after(created, run(1, 'true'), run(2, 'true', 'error'))?.attention ?? 0;
    expect(failing).toBe(trueSince(1, 'error'));
    const order = [
      attentionOf({ health: 'blocked', condition: 'flapping' }, 0),
      failing,
      attentionOf({ health: 'error', condition: 'false' }, 0),
      attentionOf({ health: 'ok', condition: 'flapping' }, 0),
      trueSince(9),
      trueSince(1),
      0,
    ];
    expect(order.toSorted((one, other) => other - one)).toEqual(order);
    expect(order.every(Number.isSafeInteger)).toBe(true);
  });
});

describe('the last execution of a task', () => {
  it('has the value and the reason of the error', () => {
    expect(after(created, run(1, 'true', 'ok', { values: { value: 12.5, other: 1 } }))?.lastExecution).toMatchObject({
      value: 12.5,
      reason: null,
    });
    const error = { reason: 'threw', message: 'no' };
    expect(after(created, run(1, 'true', 'error', { values: {}, error }))?.lastExecution).toMatchObject({
      value: null,
      reason: 'threw',
    });
  });
});

describe('the next run of a task', () => {
  const hourly = { type: 'interval', intervalSeconds: 3_600, catchUp: 'latest' };
  const planned = (nextDueAt: string | null, schedule: JsonObject = hourly, taskRevision = 0) =>
    [
      'schedule.planned',
      { plan: { taskId, taskRevision, schedule, active: true, nextDueAt, highWaterMark: null } },
    ] as const;
  const createdWith = (schedule: JsonObject, status = 'active') =>
    ['task.created', { spec: { ...aTask(), schedule }, status, createdBy: 'key:key_1' } as JsonObject] as const;
  const changed = (schedule: JsonObject) => ['task.changed', { changes: { schedule } }] as const;

  it('is known as soon as the task is, whatever its schedule is', () => {
    expect(after(createdWith(hourly))?.nextRunAt).toBe(at(0));
    expect(after(createdWith(hourly, 'paused'))?.nextRunAt).toBeNull();
    expect(after(createdWith({ type: 'manual' }))?.nextRunAt).toBeNull();
    expect(after(createdWith({ type: 'cron', cron: '30 12 * * *', catchUp: 'latest' }))?.nextRunAt).toBe(
      '2026-11-21T12:30:00.000Z',
    );
  });

  it('is gone while the task is paused, and at once when it is resumed', () => {
    const begun = [createdWith(hourly), planned(at(3_600))] as const;
    expect(after(...begun)?.nextRunAt).toBe(at(3_600));
    expect(after(...begun, ['task.paused', {}])?.nextRunAt).toBeNull();
    expect(after(...begun, ['task.paused', {}], changed({ ...hourly, intervalSeconds: 60 }))?.nextRunAt).toBeNull();
    expect(after(...begun, ['task.paused', {}], ['task.resumed', {}])?.nextRunAt).toBe(at(180));
  });

  it('goes by a new schedule as soon as that is written, an interval on from the last slot', () => {
    const begun = [createdWith(hourly), planned(at(3_600))] as const;
    expect(after(...begun, changed({ ...hourly, intervalSeconds: 600 }))?.nextRunAt).toBe(at(600));
    expect(after(...begun, changed({ ...hourly, intervalSeconds: 7_200 }))?.nextRunAt).toBe(at(7_200));
    // Ten seconds behind the last slot is over.
    expect(after(...begun, changed({ ...hourly, intervalSeconds: 10 }))?.nextRunAt).toBe(at(120));
    expect(after(...begun, changed({ type: 'manual' }))?.nextRunAt).toBeNull();
    expect(after(...begun, changed({ type: 'cron', cron: '5 * * * *', catchUp: 'latest' }))?.nextRunAt).toBe(at(300));
    // It has had no slot yet: the first one comes at once.
    const later = { ...hourly, startAt: at(3_600) };
    expect(after(createdWith(later), planned(at(3_600), later), changed(hourly))?.nextRunAt).toBe(at(120));
  });

  it('is not that of a plan which has not seen the latest change', () => {
    const sooner = changed({ ...hourly, intervalSeconds: 600 });
    const begun = [createdWith(hourly), planned(at(3_600)), sooner] as const;
    expect(after(...begun, planned(at(3_600)))?.nextRunAt).toBe(at(600));
    expect(after(...begun, planned(at(660), { ...hourly, intervalSeconds: 600 }, 2))?.nextRunAt).toBe(at(660));
    // The same, however it was written down.
    const turned = { catchUp: 'latest', intervalSeconds: 600, type: 'interval' };
    expect(after(...begun, planned(at(660), turned, 2))?.nextRunAt).toBe(at(660));
    expect(after(createdWith(hourly), ['task.paused', {}], planned(at(3_600)))?.nextRunAt).toBeNull();
  });

  it('stays as it is with any other change, and with a run that is asked for before there is a plan', () => {
    const renamed = ['task.changed', { changes: { name: 'Cost' } }] as const;
    expect(after(createdWith(hourly), planned(at(3_600)), renamed)?.nextRunAt).toBe(at(3_600));
    const unplanned = planned(null, { type: 'manual' }, -1);
    expect(after(createdWith(hourly), unplanned)?.nextRunAt).toBe(at(0));
  });
});
