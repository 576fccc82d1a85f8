import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RequestContext } from '#bus/bus';
import { frozenEvents } from '#contracts/frozen-events.kit';
import { runStream } from '#contracts/run';
import { scheduleStream, type ScheduleEvent } from '#contracts/schedule';
import type { TaskDocument } from '#contracts/task';
import type { TaskCommand } from '#contracts/task-command';
import type { TaskMoment } from '#contracts/task-history';
import { aTask } from '#contracts/task.kit';
import type { DomainEvent } from '#eventing/decider';
import { encodeEvent } from '#eventing/codec';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { JsonObject } from '#runtime/json';
import { ChangeTask, ChangeTaskHandler } from './change-task.js';
import { taskAt } from './task-at.js';

const organizationId = 'org_01kam000000000000000000001';
const context: RequestContext = { organizationId, actor: 'key:key_1', requestId: 'req_1' };
const taskId = 'ntf_01kam000000000000000000001';
const startMs = Date.UTC(2026, 10, 21, 10);
const timeAt = (second: number): string => new Date(startMs + second * 1_000).toISOString();
const frozenRun = (frozenEvents().find(({ name }) => name === 'run.recorded.v1.json')?.read ?? {}) as Record<
  'result' | 'alert',
  JsonObject
>;
const runId = (second: number): string => `exe_${String(second).padStart(26, '0')}`;

let eventStore: EventStore;
let second: number;

beforeEach(() => {
  eventStore = createSqliteEventStore(':memory:');
  second = 0;
});
afterEach(() => eventStore.close());

const clock = { now: () => startMs + second * 1_000 };

async function change(atSecond: number, command: TaskCommand): Promise<void> {
  second = atSecond;
  await new ChangeTaskHandler(eventStore, clock).execute(new ChangeTask(command, context));
}

/** Each minute, as it is planned. */
const minutely = { type: 'interval', intervalSeconds: 60, catchUp: 'latest' } as const;

const set = (atSecond: number, more: object): Promise<void> =>
  change(atSecond, {
    type: 'replaceTask',
    taskId,
    spec: aTask({ schedule: minutely, ...more }),
    status: 'active',
    expectedRevision: null,
  });

async function append(stream: string, atSecond: number, event: DomainEvent): Promise<void> {
  const last = await eventStore.readLast(stream);
  const metadata = { ...context, causationId: null, at: timeAt(atSecond) };
  const appended = await eventStore.append(
    stream,
    [encodeEvent(event, crypto.randomUUID(), metadata)],
    last?.revision ?? 'none',
  );
  expect(appended.ok).toBe(true);
}

/** A run that ended then. */
async function run(atSecond: number, condition: string, codeRevision = 0): Promise<void> {
  const result = { ...frozenRun.result, runId: runId(atSecond), finishedAt: timeAt(atSecond), error: null };
  const alert = { ...frozenRun.alert, condition, health: 'ok', codeRevision, flapping: false };
  await append(runStream(taskId), atSecond, { type: 'run.recorded', data: { ...frozenRun, result, alert } });
}

async function plan(atSecond: number, nextSecond: number): Promise<void> {
  const data = {
    taskId,
    taskRevision: 0,
    schedule: minutely,
    active: true,
    nextDueAt: timeAt(nextSecond),
    highWaterMark: null,
  } as const;
  const event: ScheduleEvent = { type: 'schedule.planned', data: { plan: data } };
  await append(scheduleStream(taskId), atSecond, event);
}

const past = (moment: TaskMoment, organization = organizationId): Promise<TaskDocument> =>
  taskAt({ eventStore, clock }, { taskId, organizationId: organization, moment });
const at = (atSecond: number): Promise<TaskDocument> => past({ at: timeAt(atSecond) });

const created: TaskCommand = {
  type: 'createTask',
  taskId,
  spec: aTask({ name: 'First', schedule: minutely }),
  status: 'active',
};

describe('a task at a moment', () => {
  it('has the settings, the condition, the last execution and the next run of then', async () => {
    await change(10, created);
    await plan(10, 60);
    await run(20, 'false');
    await run(30, 'true');
    await set(40, { name: 'Second' });
    await plan(41, 120);
    await run(50, 'false');
    expect(await at(15)).toMatchObject({
      name: 'First',
      revision: 0,
      condition: 'unknown',
      lastExecution: null,
      nextRunAt: timeAt(60),
      updatedAt: timeAt(10),
    });
    expect(await at(35)).toMatchObject({ name: 'First', condition: 'true', lastExecution: { id: runId(30) } });
    expect(await at(45)).toMatchObject({
      name: 'Second',
      revision: 1,
      condition: 'true',
      nextRunAt: timeAt(120),
      createdAt: timeAt(10),
      updatedAt: timeAt(40),
    });
    expect(await at(50)).toMatchObject({ condition: 'false', lastExecution: { id: runId(50) } });
  });

  it('of a revision is what it was when the next one came', async () => {
    await change(10, created);
    await run(20, 'true');
    await set(30, { evaluationFunction: 'false' });
    await run(40, 'false', 1);
    second = 50;
    expect(await past({ revision: 0 })).toMatchObject({
      revision: 0,
      condition: 'true',
      lastExecution: { id: runId(20) },
    });
    expect(await past({ revision: 1 })).toMatchObject({
      revision: 1,
      condition: 'false',
      lastExecution: { id: runId(40) },
    });
    // The run of the older code says nothing of the newer one.
    expect(await at(35)).toMatchObject({ revision: 1, condition: 'unknown' });
  });

  it('is found among many runs, each of them the last one once', async () => {
    await change(0, created);
    for (let n = 1; n <= 33; n += 1) await run(n, n % 2 === 0 ? 'true' : 'false');
    for (let n = 1; n <= 33; n += 1) expect((await at(n)).lastExecution?.id).toBe(runId(n));
  });

  it('before its creation, after its last revision or while it was archived is not there', async () => {
    await change(10, created);
    await change(20, { type: 'archiveTask', taskId, expectedRevision: null });
    const gone = { code: 'NOT_FOUND', reason: 'not_found' };
    await expect(at(15)).rejects.toMatchObject(gone);
    await change(30, { type: 'restoreTask', taskId, contacts: [] });
    await expect(at(9)).rejects.toMatchObject({ reason: 'not_there_then', details: [{ field: 'at' }] });
    await expect(at(25)).rejects.toMatchObject({ reason: 'not_there_then' });
    await expect(past({ revision: 3 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      reason: 'no_such_revision',
      details: [{ field: 'revision' }],
    });
    await expect(past({ revision: 1 })).rejects.toMatchObject({ reason: 'no_such_revision' });
    expect(await at(15)).toMatchObject({ revision: 0, status: 'active' });
    expect(await at(99)).toMatchObject({ revision: 2, createdAt: timeAt(10) });
    await expect(past({ revision: 0 }, 'org_01kam000000000000000000002')).rejects.toMatchObject(gone);
  });
});
