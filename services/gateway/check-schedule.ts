/** What a schema cannot know of a schedule: that its cron is one, that it is ever due, and that its times are still to come. */
import { faultOfCron } from '#calendar/cron';
import { firstSlot } from '#calendar/slots';
import { isEmptyWindow } from '#calendar/windows';
import { toStoredSchedule, wholeSchedule, type Schedule } from '#contracts/schedule';
import type { TaskDocument } from '#contracts/task';
import { refuse } from '#http/validation';
import { toTimestamp } from '#runtime/clock';
import { jsonEquals } from '#runtime/json';

type Repeated = Extract<Schedule, { readonly type: 'interval' | 'cron' }>;

type Field = readonly PropertyKey[];

function checkRepeated(schedule: Repeated, field: Field): void {
  const { windows, startAt, endAt } = schedule;
  for (const [index, window] of windows.entries()) {
    if (!isEmptyWindow(window)) continue;
    const problem = 'must differ from `from`; a whole day is 00:00 to 24:00';
    throw refuse([...field, 'windows', index, 'to'], 'empty', problem, 'window_empty');
  }
  if (startAt !== null && endAt !== null && Date.parse(endAt) <= Date.parse(startAt)) {
    throw refuse([...field, 'endAt'], 'before_start', 'must be later than startAt', 'end_before_start');
  }
}

/** Throws the first fault of the schedule itself, whenever it is saved. */
export function checkSchedule(schedule: Schedule, minIntervalSeconds: number, field: Field = ['schedule']): void {
  if (schedule.type === 'interval') {
    const { intervalSeconds, jitterSeconds } = schedule;
    if (intervalSeconds < minIntervalSeconds) {
      throw refuse([...field, 'intervalSeconds'], 'too_small', `must be at least ${minIntervalSeconds} here`);
    }
    if (jitterSeconds >= intervalSeconds) {
      const problem = `must be less than intervalSeconds (${intervalSeconds})`;
      throw refuse([...field, 'jitterSeconds'], 'too_large', problem, 'jitter_too_large');
    }
  }
  if (schedule.type === 'cron') {
    const fault = faultOfCron(schedule.cron);
    if (fault !== null) {
      const count = schedule.cron.trim().split(/\s+/).length;
      const problem = count === 5 ? fault : `minute, hour, day, month and weekday (it has ${count})`;
      throw refuse([...field, 'cron'], 'invalid', `must be a cron of five fields: ${problem}`, 'cron_invalid');
    }
  }
  if (schedule.type === 'interval' || schedule.type === 'cron') checkRepeated(schedule, field);
}

/**
 * Throws where a schedule that is new has nothing to come. One that stands is kept: its times have passed by themselves, and
 * names such as @daily were taken once.
 */
export function checkScheduleIsDue(schedule: Schedule, nowMs: number, field: Field = ['schedule']): void {
  if (schedule.type === 'cron' && schedule.cron.trim().startsWith('@')) {
    const problem = 'must be a cron of five fields, such as 0 0 * * * instead of @daily';
    throw refuse([...field, 'cron'], 'invalid', problem, 'cron_invalid');
  }
  if (schedule.type === 'manual' || firstSlot(schedule, nowMs) !== null) return;
  if (schedule.type === 'once') throw refuse([...field, 'at'], 'past', 'must be in the future', 'at_in_the_past');
  if (schedule.endAt !== null && Date.parse(schedule.endAt) <= nowMs) {
    throw refuse([...field, 'endAt'], 'past', 'must be in the future', 'end_in_the_past');
  }
  const everywhere: Schedule = { ...schedule, windows: [] };
  if (firstSlot(everywhere, nowMs) !== null) {
    const problem = 'leave no slot of the schedule';
    throw refuse([...field, 'windows'], 'never_open', problem, 'windows_never_open');
  }
  const next = firstSlot({ ...schedule, endAt: null }, nowMs);
  if (next === null) throw refuse([...field, 'cron'], 'never', 'is never due', 'cron_never_fires');
  const problem = `is before the first slot, which would be at ${toTimestamp(next)}`;
  throw refuse([...field, 'endAt'], 'never', problem, 'never_due');
}

/** Whether the task has this schedule already. */
export function isStored(schedule: Schedule, { spec }: Pick<TaskDocument, 'spec'>): boolean {
  return jsonEquals(toStoredSchedule(schedule), toStoredSchedule(wholeSchedule(spec.schedule)));
}
