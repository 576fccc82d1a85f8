/** When a task runs: what a user sets, what the scheduling service records, what its view holds. */
import { z } from 'zod';
import { eventMetadata, idSchema, storedTimestamp } from './common.js';
import { defineEvent, type EventOf } from './event.js';
import type { ViewDefinition } from '#read-store/read-store';

/** The smallest interval of any installation; MIN_INTERVAL_SECONDS raises it. */
export const smallestIntervalSeconds = 1;

export const schedule = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('interval'),
    intervalSeconds: z.int().min(smallestIntervalSeconds).max(31_536_000),
    /** After a time down: one run for all missed slots, or none. */
    catchUp: z.enum(['latest', 'none']).default('latest'),
  }),
  z.strictObject({ type: z.literal('manual') }),
]);
export type Schedule = z.infer<typeof schedule>;

export const defaultSchedule: Schedule = { type: 'interval', intervalSeconds: 300, catchUp: 'latest' };

export const runTrigger = z.enum(['schedule', 'manual']);

/** A run that is due: from the timer or asked for by a person. The id is derived, so any process computes the same. */
export const dueRun = z.object({
  runId: idSchema('exe'),
  taskId: idSchema('ntf'),
  trigger: runTrigger,
  /** The slot; of a manual run the time of the request. */
  scheduledFor: storedTimestamp,
  queuedAt: storedTimestamp,
  /** Notify if the outcome is true, whatever the policy says. */
  force: z.boolean(),
  /** Decide, but send nothing and change no state. */
  dryRun: z.boolean(),
});
export type DueRun = z.infer<typeof dueRun>;

/** What scheduling knows of a task. Every event of the stream carries it whole, so the last event is enough to go on. */
export const plan = z.object({
  taskId: idSchema('ntf'),
  taskRevision: z.int(),
  schedule: schedule,
  active: z.boolean(),
  /** null: nothing is due by itself. */
  nextDueAt: storedTimestamp.nullable(),
  /** The last slot that fired or was passed over; a slot at or under it never fires again. */
  highWaterMark: storedTimestamp.nullable(),
});
export type Plan = z.infer<typeof plan>;

const skippedSlots = z.object({ from: storedTimestamp, to: storedTimestamp, count: z.int().min(1) });

export const scheduleEvents = [
  defineEvent('schedule.planned', { version: 1, schema: z.object({ plan }) }),
  defineEvent('schedule.stopped', { version: 1, schema: z.object({ plan }) }),
  defineEvent('slot.fired', { version: 1, schema: z.object({ plan, run: dueRun, skipped: skippedSlots.nullable() }) }),
  /** Slots that came while the task's run was still going, or that `catchUp: none` leaves out. */
  defineEvent('slots.skipped', {
    version: 1,
    schema: z.object({ plan, slots: skippedSlots, reason: z.enum(['overlap', 'catch_up_none']) }),
  }),
  defineEvent('run.requested', { version: 1, schema: z.object({ plan, run: dueRun }) }),
] as const;
export type ScheduleEvent = EventOf<(typeof scheduleEvents)[number]>;

/** Where a task's slots and requests are, the plan with each of them. */
export const scheduleStream = (taskId: string): string => `schedule-${taskId}`;

export const triggerRun = z.object({
  taskId: idSchema('ntf'),
  runId: idSchema('exe'),
  force: z.boolean(),
  dryRun: z.boolean(),
});
export type TriggerRun = z.infer<typeof triggerRun>;

/** So many intervals apart are the runs of a task that backs off. */
export const backOffFactor = 4;

/** One document per task: what is due, and which runs have no result yet. */
export const scheduleDocument = z.object({
  taskId: idSchema('ntf'),
  organizationId: idSchema('org'),
  plan,
  /** When the timer looks at it: the plan's next slot, or a later one where the task backs off. */
  nextDueAt: storedTimestamp.nullable(),
  /** Its runs had to be ended from outside, again and again: of `backOffFactor` slots one is run. Absent: no. */
  backsOff: z.boolean().optional(),
  /** Which of the timers looks after it. */
  shard: z.int(),
  pending: z.array(dueRun),
  /** When the oldest pending run was queued: what the sweeper looks at. */
  pendingSince: storedTimestamp.nullable(),
  metadata: eventMetadata,
});
export type ScheduleDocument = z.infer<typeof scheduleDocument>;

export const schedulesView: ViewDefinition<ScheduleDocument> = {
  name: 'schedules',
  fields: ['organizationId', 'nextDueAt', 'pendingSince', 'shard'],
  indexes: [['nextDueAt'], ['pendingSince'], ['organizationId', 'nextDueAt']],
};
