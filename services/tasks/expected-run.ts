/**
 * When a task is going to run after an event of its own. Its schedule says so a moment later; until then lists, and the one
 * who has just written, are told what it will say.
 */
import { dueTime, firstSlot } from '#calendar/slots';
import { wholeSchedule, type StoredSchedule } from '#contracts/schedule';
import type { TaskDocument, TaskEvent } from '#contracts/task';
import { toTimestamp } from '#runtime/clock';

type Before = Pick<TaskDocument, 'id' | 'createdAt' | 'nextRunAt' | 'status'> & {
  readonly spec: { readonly schedule: StoredSchedule };
};

function firstRun(taskId: string, stored: StoredSchedule, fromMs: number): string | null {
  const schedule = wholeSchedule(stored);
  const slotMs = firstSlot(schedule, fromMs);
  return slotMs === null ? null : toTimestamp(dueTime(schedule, taskId, slotMs));
}

/** The last slot of an interval, which the next one counts from; null: there was none, or it cannot be told. */
function lastSlotMs({ spec, nextRunAt, createdAt }: Before, nowMs: number): number | null {
  const { schedule } = spec;
  if (schedule.type !== 'interval' || nextRunAt === null) return null;
  const slotMs = Date.parse(nextRunAt) - schedule.intervalSeconds * 1_000;
  const beginsMs = Math.max(Date.parse(createdAt), schedule.startAt === undefined ? 0 : Date.parse(schedule.startAt));
  return slotMs >= beginsMs && slotMs <= nowMs ? slotMs : null;
}

function afterNewSchedule(before: Before, schedule: StoredSchedule, nowMs: number): string | null {
  const slotMs = schedule.type === 'interval' ? lastSlotMs(before, nowMs) : null;
  const goesOnMs = schedule.type === 'interval' && slotMs !== null ? slotMs + schedule.intervalSeconds * 1_000 : nowMs;
  return firstRun(before.id, schedule, Math.max(nowMs, goesOnMs));
}

/** `before`: as it was; null: it was not there, or was archived. */
export function expectedRunAt(taskId: string, before: Before | null, event: TaskEvent, at: string): string | null {
  const nowMs = Date.parse(at);
  switch (event.type) {
    case 'task.created':
    case 'task.restored':
      return event.data.status === 'active' ? firstRun(taskId, event.data.spec.schedule, nowMs) : null;
    case 'task.paused':
      return null;
    case 'task.resumed':
      return before === null ? null : firstRun(taskId, before.spec.schedule, nowMs);
    case 'task.changed': {
      const { schedule } = event.data.changes;
      if (before === null || schedule === undefined) return before?.nextRunAt ?? null;
      return before.status === 'active' ? afterNewSchedule(before, schedule, nowMs) : null;
    }
    default:
      return before?.nextRunAt ?? null;
  }
}
