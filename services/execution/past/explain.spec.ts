import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import type { Explanation } from '#contracts/explanation';
import { runStream } from '#contracts/run';
import { scheduleStream, type DueRun, type Plan, type ScheduleEvent } from '#contracts/schedule';
import { taskStream, type TaskEvent } from '#contracts/task';
import { encodeEvents } from '#eventing/codec';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import type { RunDeps } from '../run.js';
import { document, due, metadata, playRuns, start, taskId, type PlayedRuns } from '../run.kit.js';
import { explain } from './explain.js';

const { organizationId } = metadata;
const timeOf = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();

describe('an explanation', () => {
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  let runs: PlayedRuns;
  let deps: RunDeps;
  let revision: number;

  beforeEach(async () => {
    runs = playRuns(sandbox);
    ({ deps } = runs);
    revision = -1;
    await taskWith({});
  });

  afterEach(() => runs.close());
  afterAll(() => sandbox.close());

  async function taskWith(policy: object): Promise<void> {
    const task = document({ policy: { notifyOn: 'became_true', errorThreshold: 2, ...policy } });
    revision += 1;
    await runs.saveTask({ ...task, revision });
    if (revision > 0) {
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
      metadata: { ...metadata, at: new Date(runs.clock.ms).toISOString() },
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
    runs.clock.ms = start + seconds * 1_000;
    const fired = { plan: plan({ nextDueAt: timeOf(seconds + 60) }), run: due(seconds), skipped: null };
    await record(scheduleStream(taskId), { type: 'slot.fired', data: fired });
    runs.clock.ms -= 60_000;
    await runs.runOn(content);
  }

  /** Of that second, asked then or later. */
  const at = (seconds: number): Promise<Explanation> => {
    const clock = { now: () => Math.max(runs.clock.ms, start + seconds * 1_000) };
    return explain({ ...deps, clock }, { taskId, at: timeOf(seconds) }, organizationId);
  };
  /** Of that second, asked at the time of the clock. */
  const ahead = (seconds: number): Promise<Explanation> =>
    explain(deps, { taskId, at: timeOf(seconds) }, organizationId);
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

  it('has the deliveries of the run, however many there were since', async () => {
    await runAt(60, '<p id=p>yes');
    const [run] = await runs.runOn();
    const id = run?.notifications[0]?.deliveryId ?? '';
    const later = Array.from({ length: 200 }, (_, index) => `dlv_${String(index).padStart(26, '0')}`);
    const made = { organizationId, notificationId: taskId, actionId: 'act_00000000000000000000000001' };
    const settled = {
      state: 'delivered',
      reason: null,
      nextAttemptAt: null,
      finishedAt: null,
      dueAt: null,
    } as const;
    const written = [id, ...later].map((each, index) => ({
      id: each,
      revision: index + 1,
      document: {
        ...made,
        ...settled,
        attempts: [],
        id: each,
        executionId: index === 0 ? due(60).runId : due(600 + index).runId,
        actionType: 'webhook' as const,
        type: 'notification.triggered',
        createdAt: index === 0 ? timeOf(60) : timeOf(600 + index),
        expiresAt: timeOf(9_999),
      },
    }));
    await deps.readStore.save(deliveriesView, written, null);
    expect((await at(90)).deliveries.map((delivery) => delivery.id)).toEqual([id]);
  });

  it('has the deliveries of the run, and the last message before it', async () => {
    await runAt(60, '<p id=p>yes');
    await runAt(120, '<p id=p>yes<i>');
    const [request] = (await runs.runOn())[0]?.notifications ?? [];
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

  it.each([
    ['that is held until its time', 90, 'The first attempt is at '],
    ['that was due long ago', 20, 'It waits for its receiver: '],
    ['that is due now', 61, 'Its messages: 1 pending.'],
  ])('says what a message waits for %s', async (_, dueAtSeconds, words) => {
    await runAt(60, '<p id=p>yes');
    const [request] = (await runs.runOn())[0]?.notifications ?? [];
    if (request === undefined) throw new Error('nothing was to be sent');
    const document: DeliveryDocument = {
      id: request.deliveryId,
      organizationId,
      notificationId: taskId,
      executionId: due(60).runId,
      actionId: request.action.id,
      actionType: 'webhook',
      type: 'notification.triggered',
      state: 'pending',
      reason: null,
      attempts: [],
      createdAt: request.createdAt,
      nextAttemptAt: timeOf(dueAtSeconds),
      expiresAt: timeOf(999),
      finishedAt: null,
      dueAt: null,
    };
    await deps.readStore.save(deliveriesView, [{ id: document.id, revision: 1, document }], null);
    const { answer } = await at(62);
    expect(answer).toContain(words);
    expect(answer.endsWith('1 pending.')).toBe(words.endsWith('1 pending.'));
  });

  it('says why no run happened', async () => {
    expect((await at(1)).noRun).toMatchObject({ reason: 'never_planned' });
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: plan() } });
    expect((await at(1)).noRun).toMatchObject({ reason: 'not_due', nextRunAt: timeOf(60) });
    expect((await at(100)).noRun).toMatchObject({ reason: 'missed' });
    runs.clock.ms = start + 400_000;
    const skipped = { from: timeOf(60), to: timeOf(300), count: 5 };
    await record(scheduleStream(taskId), {
      type: 'slot.fired',
      data: { plan: plan({ nextDueAt: timeOf(420) }), run: due(360), skipped },
    });
    expect((await at(100)).noRun?.message).toContain('5 slots');
    expect((await at(401)).noRun).toMatchObject({ reason: 'running' });
    const slots = { from: timeOf(420), to: timeOf(420), count: 1 };
    runs.clock.ms = start + 420_000;
    const after = plan({ nextDueAt: timeOf(480) });
    await record(scheduleStream(taskId), { type: 'slots.skipped', data: { plan: after, slots, reason: 'overlap' } });
    expect((await at(421)).noRun).toMatchObject({ reason: 'overlap' });
    const stopped = plan({ active: false, nextDueAt: null });
    // Slots that were passed over long after their time say so at their time.
    const late = { from: timeOf(422), to: timeOf(424), count: 3 };
    runs.clock.ms = start + 429_000;
    await record(scheduleStream(taskId), {
      type: 'slots.skipped',
      data: { plan: after, slots: late, reason: 'missed' },
    });
    expect((await at(423)).noRun).toMatchObject({ reason: 'missed', message: expect.stringContaining('3 slots') });
    expect((await at(421)).noRun).toMatchObject({ reason: 'overlap' });
    runs.clock.ms = start + 430_000;
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: stopped } });
    expect((await at(431)).noRun).toMatchObject({ reason: 'paused', nextRunAt: null });
    runs.clock.ms = start + 440_000;
    const manual = plan({ schedule: { type: 'manual' }, nextDueAt: null });
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: manual } });
    expect((await at(441)).noRun).toMatchObject({ reason: 'manual' });
  });

  it('of a time ahead says that it has not come, and what is known now', async () => {
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: plan() } });
    const due = `That time has not come; the next run is due at ${timeOf(60)}.`;
    expect(await ahead(7_200)).toMatchObject({
      at: timeOf(7_200),
      answer: due,
      noRun: { reason: 'not_due', message: due, nextRunAt: timeOf(60) },
    });
    await runAt(60, '<p id=p>yes');
    runs.clock.ms = start + 70_000;
    const next = `That time has not come; the next run is due at ${timeOf(120)}.`;
    const found = await ahead(7_200);
    expect(found.noRun).toEqual({ reason: 'not_due', message: next, nextRunAt: timeOf(120) });
    expect(found.answer).toBe(`${next} Before that: ${(await ahead(70)).answer}`);
    // The clock of the process that was asked may be ahead of this one.
    expect(await ahead(74)).toMatchObject({ noRun: null });
    runs.clock.ms = start + 200_000;
    expect((await ahead(7_200)).noRun).toMatchObject({
      reason: 'missed',
      message: expect.stringMatching(/^That time has not come\. A run was due at .+ and had not begun/),
      nextRunAt: timeOf(120),
    });
    const manual = plan({ schedule: { type: 'manual' }, nextDueAt: null });
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: manual } });
    expect((await ahead(7_200)).noRun).toEqual({
      reason: 'manual',
      message: 'That time has not come. No run was due: the task runs by hand only.',
      nextRunAt: null,
    });
  });

  it('of a task that is paused says so, also behind a run by hand', async () => {
    const stopped = plan({ active: false, nextDueAt: null });
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: stopped } });
    runs.clock.ms = start + 60_000;
    const run: DueRun = { ...due(60), trigger: 'manual' };
    await record(scheduleStream(taskId), { type: 'run.requested', data: { plan: stopped, run } });
    expect((await at(61)).noRun).toMatchObject({ reason: 'running' });
    runs.clock.ms = start;
    await runs.runOn('<p id=p>no');
    const { noRun, answer } = await at(90);
    expect(noRun).toMatchObject({ reason: 'paused', nextRunAt: null });
    expect(answer).toMatch(/^No run was due: the task had been paused.+ Before that: The run of /);
  });

  it('of a task that is paused names the time of pausing, whatever happened to it since', async () => {
    await runAt(60, '<p id=p>no');
    runs.clock.ms = start + 100_000;
    await record(taskStream(taskId), { type: 'task.paused', data: {} });
    runs.clock.ms = start + 101_000;
    const stopped = plan({ active: false, nextDueAt: null });
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: stopped } });
    runs.clock.ms = start + 200_000;
    await taskWith({ confirmations: 2 });
    await record(scheduleStream(taskId), { type: 'schedule.planned', data: { plan: { ...stopped, taskRevision: 1 } } });
    expect((await at(210)).noRun?.message).toBe(`No run was due: the task had been paused since ${timeOf(100)}.`);
  });

  it('of a task that was made paused names the time of making', async () => {
    const made = 'ntf_01jd00000000000000000000p1';
    await record(taskStream(made), {
      type: 'task.created',
      data: { spec: document({}).spec, status: 'paused', createdBy: 'key:key_1' },
    });
    const stopped = plan({ taskId: made, active: false, nextDueAt: null });
    runs.clock.ms = start + 5_000;
    await record(scheduleStream(made), { type: 'schedule.planned', data: { plan: stopped } });
    const { noRun } = await explain(deps, { taskId: made, at: timeOf(9) }, organizationId);
    expect(noRun?.message).toBe(`No run was due: the task had been paused since ${timeOf(0)}.`);
  });

  it('of a task that backs off does not blame the instance', async () => {
    await runAt(60, '<p id=p>no');
    const stream = runStream(taskId);
    const last = await deps.eventStore.readLast(stream);
    const [run] = await runs.runOn();
    if (last === null || run === undefined) throw new Error('nothing was recorded');
    const slow = { ...run, alert: { ...run.alert, timesEnded: 3 } };
    const [event] = encodeEvents([{ type: 'run.recorded', data: slow }], {
      commandId: 'slow',
      metadata: last.metadata,
    });
    if (event === undefined) throw new Error('no event');
    await deps.eventStore.append(stream, [event], last.revision);
    expect((await at(150)).noRun).toMatchObject({ reason: 'backs_off' });
  });

  it('is 404 before the task was there, and for another organisation', async () => {
    await expect(at(-10)).rejects.toMatchObject({ reason: 'not_there_then' });
    await expect(explain(deps, { taskId, at: timeOf(10) }, 'org_00000000000000000000000009')).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
