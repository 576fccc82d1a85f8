/** The schedule aggregate: when a task is due, and that no slot fires twice. */
import { dueSlots, dueTime, dueTimes, firstSlot } from '#calendar/slots';
import {
  backOffFactor,
  slotRunId,
  wholeSchedule,
  type DueRun,
  type Plan,
  type Schedule,
  type ScheduleEvent,
  type SkipReason,
  type StoredSchedule,
} from '#contracts/schedule';
import type { Decider } from '#eventing/decider';
import { unreachable } from '#runtime/errors';
import { jsonEquals } from '#runtime/json';

export type ScheduleState =
  | { readonly status: 'none' }
  /** `forgotten`: the task was purged, and nothing is due any more. */
  | { readonly status: 'planned' | 'forgotten'; readonly plan: Plan };

export type ScheduleCommand =
  /** The task was created, changed, paused or resumed. What is absent stays as it is. */
  | {
      readonly type: 'planRuns';
      readonly taskId: string;
      readonly taskRevision: number;
      readonly schedule?: StoredSchedule;
      readonly active?: boolean;
      /** What ran badly is not what will run: said even where the schedule stays the same. */
      readonly codeChanged?: boolean;
      readonly nowMs: number;
    }
  | { readonly type: 'stopRuns'; readonly taskId: string; readonly taskRevision: number }
  | { readonly type: 'forgetRuns'; readonly taskId: string; readonly taskRevision: number }
  /** The timer found this slot due. `busy`: a run of the schedule has no result yet. `late`: slots before now were left out on purpose. */
  | {
      readonly type: 'fireSlot';
      readonly dueAt: string;
      readonly busy: boolean;
      readonly late?: boolean;
      readonly nowMs: number;
    }
  | {
      readonly type: 'requestRun';
      readonly taskId: string;
      readonly runId: string;
      readonly force: boolean;
      readonly dryRun: boolean;
      readonly nowMs: number;
    };

const initial: ScheduleState = { status: 'none' };

/** Every event carries the plan whole. */
function evolve(_: ScheduleState, event: ScheduleEvent): ScheduleState {
  return { status: event.type === 'schedule.forgotten' ? 'forgotten' : 'planned', plan: event.data.plan };
}

const at = (epochMs: number): string => new Date(epochMs).toISOString();

function unplanned(taskId: string): Plan {
  return {
    taskId,
    taskRevision: -1,
    schedule: { type: 'manual' },
    active: false,
    nextDueAt: null,
    highWaterMark: null,
  };
}

type NextDue = Pick<Plan, 'nextDueAt' | 'nextSlotAt'>;

/** `notBeforeMs`: no run at or under the high-water mark, whatever the jitter. */
function dueAt(schedule: Schedule, taskId: string, slotMs: number | null, notBeforeMs: number): NextDue {
  if (slotMs === null) return { nextDueAt: null };
  const dueMs = Math.max(dueTime(schedule, taskId, slotMs), notBeforeMs);
  return dueMs === slotMs ? { nextDueAt: at(slotMs) } : { nextDueAt: at(dueMs), nextSlotAt: at(slotMs) };
}

/** The first run of an interval comes at once, later ones an interval apart; never at or under the high-water mark. */
function firstDue(before: Plan, stored: StoredSchedule, active: boolean, nowMs: number): NextDue {
  if (!active) return { nextDueAt: null };
  const schedule = wholeSchedule(stored);
  const markMs = before.highWaterMark === null ? null : Date.parse(before.highWaterMark);
  const behindMarkMs = (markMs ?? nowMs - 1) + 1;
  const goesOn = schedule.type === 'interval' && before.active && markMs !== null;
  const fromMs = Math.max(nowMs, goesOn ? markMs + schedule.intervalSeconds * 1_000 : behindMarkMs);
  return dueAt(schedule, before.taskId, firstSlot(schedule, fromMs), behindMarkMs);
}

/** The plan without what belonged to its next run. */
function withoutDue({ nextSlotAt: _nextSlotAt, ...plan }: Plan): Plan {
  return plan;
}

function withoutSkipping({ skipping: _skipping, ...plan }: Plan): Plan {
  return plan;
}

function withoutQueued({ queuedSlotAt: _queuedSlotAt, ...plan }: Plan): Plan {
  return plan;
}

function planRuns(
  {
    taskId,
    taskRevision,
    schedule,
    active,
    codeChanged = false,
    nowMs,
  }: Extract<ScheduleCommand, { type: 'planRuns' }>,
  state: ScheduleState,
): readonly ScheduleEvent[] {
  const before = state.status === 'none' ? unplanned(taskId) : state.plan;
  // The same revision again says the same, or what an event lost in between would have said.
  if (taskRevision < before.taskRevision) return [];
  const after = { schedule: schedule ?? before.schedule, active: active ?? before.active };
  const same = jsonEquals(after.schedule, before.schedule) && after.active === before.active;
  const hasNewCode = codeChanged && taskRevision > before.taskRevision;
  if (same && before.taskRevision >= 0 && !hasNewCode) return [];
  if (same && hasNewCode) {
    return [{ type: 'schedule.planned', data: { plan: { ...before, ...after, taskRevision } } }];
  }
  // A slot that waits belongs to the schedule of then.
  const rest = withoutSkipping(withoutQueued(withoutDue(before)));
  const due = firstDue(before, after.schedule, after.active, nowMs);
  return [{ type: 'schedule.planned', data: { plan: { ...rest, ...after, taskRevision, ...due } } }];
}

/** When the next run is: of a task that backs off, so many slots after the last. Those in between are passed over. */
export function pacedDueAt(plan: Plan, slow: boolean): string | null {
  const { nextDueAt, highWaterMark } = plan;
  if (!slow || nextDueAt === null || highWaterMark === null) return nextDueAt;
  const schedule = wholeSchedule(plan.schedule);
  if (schedule.type === 'interval') {
    const slowMs = Date.parse(highWaterMark) + backOffFactor * schedule.intervalSeconds * 1_000;
    return at(Math.max(Date.parse(nextDueAt), slowMs));
  }
  const slots = dueTimes(schedule, plan.taskId, Date.parse(plan.nextSlotAt ?? nextDueAt), backOffFactor);
  return at(slots.at(-1) ?? Date.parse(nextDueAt));
}

function runOf(plan: Plan, dueMs: number, nowMs: number): DueRun {
  return {
    runId: slotRunId(plan.taskId, dueMs),
    taskId: plan.taskId,
    trigger: 'schedule',
    scheduledFor: at(dueMs),
    queuedAt: at(nowMs),
    force: false,
    dryRun: false,
  };
}

type FireSlot = Extract<ScheduleCommand, { type: 'fireSlot' }>;

/** The run before it has ended: the slot that waited is fired. */
function fireQueued(plan: Plan, { busy, nowMs }: FireSlot): readonly ScheduleEvent[] {
  const { queuedSlotAt, skipping: _skipping, ...after } = plan;
  if (busy || queuedSlotAt === undefined || !plan.active) return [];
  return [
    { type: 'slot.fired', data: { plan: after, run: runOf(plan, Date.parse(queuedSlotAt), nowMs), skipped: null } },
  ];
}

type SkippedSlots = Extract<ScheduleEvent, { readonly type: 'slots.skipped' }>['data']['slots'];

/** A row of slots that are passed over for the same reason is one. */
function skip(before: Plan, after: Plan, slots: SkippedSlots, reason: SkipReason): ScheduleEvent {
  const row = before.skipping?.reason === reason ? before.skipping : { reason, from: slots.from, count: 0 };
  const plan = { ...after, skipping: { ...row, count: row.count + slots.count } };
  return { type: 'slots.skipped', data: { plan, slots, reason } };
}

/** The slots before the latest one, which is still due. */
function passedOver(
  plan: Plan,
  { fromMs, toMs, count }: { readonly fromMs: number; readonly toMs: number; readonly count: number },
  latestDueMs: number,
  reason: SkipReason,
): ScheduleEvent {
  const after: Plan = { ...withoutDue(plan), nextDueAt: at(latestDueMs), highWaterMark: at(toMs) };
  return skip(plan, after, { from: at(fromMs), to: at(toMs), count }, reason);
}

/** Where the timer speaks of another slot than the one that is due, its view is behind, and so is what it says of `busy`. */
function fireSlot(plan: Plan, command: FireSlot): readonly ScheduleEvent[] {
  const { dueAt: firedAt, busy, late = false, nowMs } = command;
  if (plan.queuedSlotAt !== undefined && plan.queuedSlotAt === firedAt) return fireQueued(plan, command);
  if (!plan.active || plan.nextDueAt !== firedAt || Date.parse(firedAt) > nowMs) return [];
  const schedule = wholeSchedule(plan.schedule);
  if (schedule.type === 'manual') return [];
  const firstMs = Date.parse(plan.nextSlotAt ?? plan.nextDueAt);
  const { latestMs, missed, nextMs } = dueSlots(schedule, plan.taskId, firstMs, nowMs);
  // The first of them keeps the time at which it was due.
  const latestDueMs = missed === null ? Date.parse(firedAt) : dueTime(schedule, plan.taskId, latestMs);
  const next = dueAt(schedule, plan.taskId, nextMs, latestDueMs + 1);
  const after: Plan = { ...withoutSkipping(withoutDue(plan)), ...next, highWaterMark: at(latestDueMs) };
  if (busy && (schedule.overlap === 'skip' || plan.queuedSlotAt !== undefined)) {
    // One waits at most: more would run for ever behind a slow page. Those before it were not looked at in time.
    const slots = { from: at(latestDueMs), to: at(latestDueMs), count: 1 };
    if (missed === null) return [skip(plan, after, slots, 'overlap')];
    const why = late ? 'backs_off' : schedule.catchUp === 'none' ? 'catch_up_none' : 'missed';
    return [passedOver(plan, missed, latestDueMs, why), skip(withoutSkipping(plan), after, slots, 'overlap')];
  }
  if (!busy && missed !== null && schedule.catchUp === 'none' && !late) {
    const slots = { from: firedAt, to: at(latestDueMs), count: missed.count + 1 };
    return [skip(plan, after, slots, 'catch_up_none')];
  }
  const before = missed === null ? [] : [passedOver(plan, missed, latestDueMs, late ? 'backs_off' : 'missed')];
  const slotAt = at(latestDueMs);
  if (busy)
    return [
      ...before,
      { type: 'slot.queued', data: { plan: { ...after, queuedSlotAt: slotAt }, slotAt, skipped: null } },
    ];
  return [
    ...before,
    { type: 'slot.fired', data: { plan: after, run: runOf(plan, latestDueMs, nowMs), skipped: null } },
  ];
}

/** The plan of a task that makes nothing due any more. */
function ended(plan: Plan, taskRevision: number): Plan {
  return { ...withoutQueued(withoutDue(plan)), taskRevision, active: false, nextDueAt: null };
}

function decide(command: ScheduleCommand, state: ScheduleState): readonly ScheduleEvent[] {
  switch (command.type) {
    case 'planRuns':
      return planRuns(command, state);
    case 'stopRuns': {
      const { taskRevision } = command;
      if (state.status === 'none' || taskRevision < state.plan.taskRevision) return [];
      if (!state.plan.active && state.plan.nextDueAt === null) return [];
      return [{ type: 'schedule.stopped', data: { plan: ended(state.plan, taskRevision) } }];
    }
    case 'forgetRuns':
      if (state.status !== 'planned') return [];
      return [{ type: 'schedule.forgotten', data: { plan: ended(state.plan, command.taskRevision) } }];
    case 'fireSlot':
      return state.status === 'none' ? [] : fireSlot(state.plan, command);
    case 'requestRun': {
      const { taskId, runId, force, dryRun, nowMs } = command;
      const plan = state.status === 'none' ? unplanned(taskId) : state.plan;
      const run: DueRun = {
        runId,
        taskId,
        trigger: 'manual',
        scheduledFor: at(nowMs),
        queuedAt: at(nowMs),
        force,
        dryRun,
      };
      return [{ type: 'run.requested', data: { plan, run } }];
    }
    default:
      return unreachable(command);
  }
}

export const scheduleDecider: Decider<ScheduleState, ScheduleCommand, ScheduleEvent> = { initial, evolve, decide };
