/** The schedule aggregate: when a task is due, and that no slot fires twice. */
import { backOffFactor, type DueRun, type Plan, type Schedule, type ScheduleEvent } from '#contracts/schedule';
import type { Decider } from '#eventing/decider';
import { unreachable } from '#runtime/errors';
import { derivedId } from '#runtime/ids';
import { jsonEquals } from '#runtime/json';
import { dueSlots } from './calendar.js';

export type ScheduleState = { readonly status: 'none' } | { readonly status: 'planned'; readonly plan: Plan };

export type ScheduleCommand =
  /** The task was created, changed, paused or resumed. What is absent stays as it is. */
  | {
      readonly type: 'planRuns';
      readonly taskId: string;
      readonly taskRevision: number;
      readonly schedule?: Schedule;
      readonly active?: boolean;
      /** What ran badly is not what will run: said even where the schedule stays the same. */
      readonly codeChanged?: boolean;
      readonly nowMs: number;
    }
  | { readonly type: 'stopRuns'; readonly taskId: string; readonly taskRevision: number }
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
  return { status: 'planned', plan: event.data.plan };
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

/** The first run comes at once, later ones an interval apart; never at or under the high-water mark. */
function firstDueAt(before: Plan, schedule: Schedule, active: boolean, nowMs: number): string | null {
  if (!active || schedule.type === 'manual') return null;
  const markMs = before.highWaterMark === null ? null : Date.parse(before.highWaterMark);
  if (!before.active || markMs === null) return at(Math.max(nowMs, (markMs ?? nowMs - 1) + 1));
  return at(Math.max(nowMs, markMs + schedule.intervalSeconds * 1_000));
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
  const nextDueAt = same && hasNewCode ? before.nextDueAt : firstDueAt(before, after.schedule, after.active, nowMs);
  return [{ type: 'schedule.planned', data: { plan: { ...before, ...after, taskRevision, nextDueAt } } }];
}

/** When the next run is: of a task that backs off, so many slots after the last. Those in between are passed over. */
export function pacedDueAt({ schedule, nextDueAt, highWaterMark }: Plan, slow: boolean): string | null {
  if (!slow || nextDueAt === null || highWaterMark === null || schedule.type !== 'interval') return nextDueAt;
  const slowMs = Date.parse(highWaterMark) + backOffFactor * schedule.intervalSeconds * 1_000;
  return at(Math.max(Date.parse(nextDueAt), slowMs));
}

export function slotRunId(taskId: string, dueMs: number): string {
  return derivedId('exe', dueMs, taskId, 'slot', String(dueMs));
}

/** Where the timer speaks of another slot than the one that is due, its view is behind, and so is what it says of `busy`. */
function fireSlot(
  plan: Plan,
  { dueAt, busy, late = false, nowMs }: Extract<ScheduleCommand, { type: 'fireSlot' }>,
): readonly ScheduleEvent[] {
  if (!plan.active || plan.nextDueAt !== dueAt || plan.schedule.type !== 'interval') return [];
  const nextDueMs = Date.parse(plan.nextDueAt);
  if (nextDueMs > nowMs) return [];
  const { latestMs, missed, nextMs } = dueSlots(nextDueMs, plan.schedule.intervalSeconds, nowMs);
  const after: Plan = { ...plan, nextDueAt: at(nextMs), highWaterMark: at(latestMs) };
  const skipped = missed === null ? null : { from: at(missed.fromMs), to: at(missed.toMs), count: missed.count };
  const passOver = (reason: 'overlap' | 'catch_up_none'): ScheduleEvent => ({
    type: 'slots.skipped',
    data: {
      plan: after,
      slots: { from: dueAt, to: at(latestMs), count: (missed?.count ?? 0) + 1 },
      reason,
    },
  });
  if (busy) return [passOver('overlap')];
  if (skipped !== null && plan.schedule.catchUp === 'none' && !late) return [passOver('catch_up_none')];
  const run: DueRun = {
    runId: slotRunId(plan.taskId, latestMs),
    taskId: plan.taskId,
    trigger: 'schedule',
    scheduledFor: at(latestMs),
    queuedAt: at(nowMs),
    force: false,
    dryRun: false,
  };
  return [{ type: 'slot.fired', data: { plan: after, run, skipped } }];
}

function decide(command: ScheduleCommand, state: ScheduleState): readonly ScheduleEvent[] {
  switch (command.type) {
    case 'planRuns':
      return planRuns(command, state);
    case 'stopRuns': {
      const { taskRevision } = command;
      if (state.status === 'none' || taskRevision < state.plan.taskRevision) return [];
      if (!state.plan.active && state.plan.nextDueAt === null) return [];
      return [
        { type: 'schedule.stopped', data: { plan: { ...state.plan, taskRevision, active: false, nextDueAt: null } } },
      ];
    }
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
