import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deliveriesView } from '#contracts/delivery';
import type { Explanation } from '#contracts/explanation';
import { scheduleStream, type Plan, type ScheduleEvent } from '#contracts/schedule';
import { taskStream, tasksView, type TaskEvent } from '#contracts/task';
import { encodeEvents } from '#eventing/codec';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { executeRun, type RunDeps } from '../run.js';
import {
  closeRunDeps,
  document,
  down,
  due,
  metadata,
  page,
  runDeps,
  scriptedOutbound,
  start,
  taskId,
} from '../run.kit.js';
import { explain } from './explain.js';
import { recordedRunOf } from './recorded-runs.js';

const { organizationId } = metadata;
const running = new AbortController().signal;
const timeOf = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();

describe('an explanation', () => {
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  let html: string | null;
  let nowMs: number;
  let saves: number;
  let deps: RunDeps;

  beforeEach(async () => {
    nowMs = start;
    saves = 0;
    const outbound = scriptedOutbound(() => (html === null ? down : page(html)));
    deps = { ...runDeps(sandbox, outbound), clock: { now: () => nowMs } };
    await taskWith({});
  });

  afterEach(() => closeRunDeps(deps));
  afterAll(() => sandbox.close());

  async function taskWith(policy: object): Promise<void> {
    const task = document({ policy: { notifyOn: 'became_true', errorThreshold: 2, ...policy } });
    saves += 1;
    await deps.readStore.save(
      tasksView,
      [{ id: taskId, revision: saves, document: { ...task, revision: saves - 1 } }],
      saves,
    );
    if ((await deps.eventStore.readLast(taskStream(taskId))) !== null) {
      await record(taskStream(taskId), { type: 'task.changed', data: { changes: { policy: task.spec.policy } } });
      return;
    }
    await record(taskStream(taskId), {
      type: 'task.created',
      data: { spec: task.spec, status: 'active', createdBy: 'key:key_1' },
    });
  }

  async function record(stream: string, event: TaskEvent | ScheduleEvent): Promise<void> {
    const last = await deps.eventStore.readLast(stream);
    const source = {
      commandId: `${stream}|${last?.revision ?? -1}`,
      metadata: { ...metadata, at: timeOf((nowMs - start) / 1_000) },
    };
    await deps.eventStore.append(stream, encodeEvents([event], source), last?.revision ?? 'none');
  }

  const plan = (more: Partial<Plan> = {}): Plan => ({
    taskId,
    taskRevision: 0,
    schedule: { type: 'interval', intervalSeconds: 60, catchUp: 'latest' },
    active: true,
    nextDueAt: timeOf(60),
    highWaterMark: null,
    ...more,
  });

  /** The slot of that second, as the timer fires it, and its run. */
  async function runAt(seconds: number, content: string | null): Promise<void> {
    nowMs = start + seconds * 1_000;
    html = content;
    const run = due(seconds);
    await record(scheduleStream(taskId), {
      type: 'slot.fired',
      data: { plan: plan({ nextDueAt: timeOf(seconds + 60) }), run, skipped: null },
    });
    await executeRun(deps, run, metadata, running);
  }

  const at = (seconds: number): Promise<Explanation> => explain(deps, { taskId, at: timeOf(seconds) }, organizationId);
  const stopOf = ({ steps }: Explanation): string | undefined => steps.find(({ passed }) => !passed)?.rule;

  it('names the page, the value, the decision and every rule that was asked', async () => {
    await runAt(60, '<p id=p>yes');
    const found = await at(61);
    expect(found).toMatchObject({
      notified: true,
      noRun: null,
      value: 7,
      codeRevision: 0,
      page: { finalUrl: 'https://example.com/', status: 200 },
      execution: { id: due(60).runId, status: 'succeeded', outcome: true },
      decision: { notify: true, reason: 'became_true' },
    });
    expect(found.steps.map(({ rule }) => rule)).toEqual([
      'run',
      'dry_run',
      'flapping',
      'confirmations',
      'condition',
      'paused',
      'muted',
      'dependencies',
      'quiet_hours',
      'cooldown',
      'hourly_cap',
      'actions',
    ]);
    expect(stopOf(found)).toBeUndefined();
  });

  it.each([
    [{}, ['<p id=p>no'], 'not_true', 'condition'],
    [{}, ['<p id=p>yes', '<p id=p>yes!', '<p id=p>yes'], 'still_true', 'condition'],
    [{ confirmations: 3 }, ['<p id=p>yes'], 'awaiting_confirmation', 'confirmations'],
    [{ muted: true }, ['<p id=p>yes'], 'muted', 'muted'],
    [{ cooldownSeconds: 3_600 }, ['<p id=p>yes', '<p id=p>no', '<p id=p>yes'], 'cooldown', 'cooldown'],
    [{ maxPerHour: 1 }, ['<p id=p>yes', '<p id=p>no', '<p id=p>yes'], 'rate_capped', 'hourly_cap'],
    [{ flapWindow: 4 }, ['<p id=p>yes', '<p id=p>no', '<p id=p>yes'], 'flapping', 'flapping'],
    [{ notifyOn: 'changed' }, ['<p id=p>yes'], 'not_changed', 'changed'],
    [{}, [null], 'error_below_threshold', 'error_threshold'],
    [{}, [null, null, null], 'not_changed', 'not_told_yet'],
    [
      { quietHours: [{ days: ['sat'], from: '00:00', to: '24:00', timezone: 'UTC' }] },
      ['<p id=p>yes'],
      'quiet_hours',
      'quiet_hours',
    ],
  ])('with %j and %j ends with %s at the rule %s', async (policy, pages, reason, rule) => {
    await taskWith(policy);
    for (const [index, content] of pages.entries()) {
      const seconds = (index + 1) * 60;
      await runAt(seconds, content === '<p id=p>yes!' ? '<p id=p>yes<i>' : content);
    }
    const found = await at(pages.length * 60 + 1);
    expect(found.decision).toMatchObject({ notify: false, reason });
    expect(stopOf(found)).toBe(rule);
    expect(found.answer).toContain(reason);
  });

  it('speaks of the moment that is asked for, not of now', async () => {
    await runAt(60, '<p id=p>no');
    await runAt(120, '<p id=p>yes');
    expect((await at(90)).decision?.reason).toBe('not_true');
    expect((await at(150)).decision?.reason).toBe('became_true');
    expect((await at(150)).answer).not.toBe((await at(90)).answer);
  });

  it('has the deliveries of the run, and the last message before it', async () => {
    await runAt(60, '<p id=p>yes');
    await runAt(120, '<p id=p>yes<i>');
    const [first] = await Array.fromAsync(deps.eventStore.read(`run-${taskId}`));
    const [request] = (first === undefined ? null : recordedRunOf(first))?.notifications ?? [];
    const id = request?.deliveryId ?? '';
    await deps.readStore.save(
      deliveriesView,
      [
        {
          id,
          revision: 1,
          document: {
            id,
            organizationId,
            notificationId: taskId,
            executionId: due(60).runId,
            actionId: 'act_00000000000000000000000001',
            actionType: 'webhook',
            type: 'notification.triggered',
            state: 'delivered',
            reason: null,
            attempts: [],
            createdAt: request?.createdAt ?? '',
            nextAttemptAt: null,
            expiresAt: timeOf(999),
            finishedAt: null,
            dueAt: null,
          },
        },
      ],
      null,
    );
    expect(await at(61)).toMatchObject({ deliveries: [{ id, state: 'delivered' }], lastNotified: null });
    expect(await at(121)).toMatchObject({
      deliveries: [],
      lastNotified: { deliveryId: id, executionId: due(60).runId, state: 'delivered' },
    });
  });

  it('says why no run happened', async () => {
    expect((await at(1)).noRun).toMatchObject({ reason: 'never_planned' });
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: plan() } });
    expect((await at(1)).noRun).toMatchObject({ reason: 'not_due', nextRunAt: timeOf(60) });
    expect((await at(100)).noRun).toMatchObject({ reason: 'missed' });
    nowMs = start + 400_000;
    const skipped = { from: timeOf(60), to: timeOf(300), count: 5 };
    await record(scheduleStream(taskId), {
      type: 'slot.fired',
      data: { plan: plan({ nextDueAt: timeOf(420) }), run: due(360), skipped },
    });
    expect((await at(100)).noRun?.message).toContain('5 slots');
    expect((await at(401)).noRun).toMatchObject({ reason: 'running' });
    const slots = { from: timeOf(420), to: timeOf(420), count: 1 };
    nowMs = start + 420_000;
    const after = plan({ nextDueAt: timeOf(480) });
    await record(scheduleStream(taskId), { type: 'slots.skipped', data: { plan: after, slots, reason: 'overlap' } });
    expect((await at(421)).noRun).toMatchObject({ reason: 'overlap' });
    const stopped = plan({ active: false, nextDueAt: null });
    nowMs = start + 430_000;
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: stopped } });
    expect((await at(431)).noRun).toMatchObject({ reason: 'paused', nextRunAt: null });
    nowMs = start + 440_000;
    const manual = plan({ schedule: { type: 'manual' }, nextDueAt: null });
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: manual } });
    expect((await at(441)).noRun).toMatchObject({ reason: 'manual' });
  });

  it('is 404 before the task was there, and for another organisation', async () => {
    await expect(at(-10)).rejects.toMatchObject({ reason: 'not_there_then' });
    await expect(explain(deps, { taskId, at: timeOf(10) }, 'org_00000000000000000000000009')).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
