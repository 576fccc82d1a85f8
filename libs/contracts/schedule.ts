/** When a task runs: what a user sets, what the scheduling service records, what its view holds. */
import { z } from 'zod';
import { eventMetadata, idSchema, storedTimestamp, timestamp } from './common.js';
import { storedWindow, timezone, weekWindow } from './week-time.js';
import { defineEvent, type EventOf } from './event.js';
import type { ViewDefinition } from '#read-store/read-store';
import { derivedId } from '#runtime/ids';

/** The smallest interval of any installation; MIN_INTERVAL_SECONDS raises it. */
export const smallestIntervalSeconds = 1;

const longestIntervalSeconds = 31_536_000;

/** After a time down: one run for all missed slots, or none. */
const catchUp = z.enum(['latest', 'none']);
/** A slot that comes while the run before it is going: it is skipped, or waits for the end of that run. One waits at most. */
const overlap = z.enum(['skip', 'queue']);

const once = {
  overlap: overlap.default('skip').describe('What becomes of a slot while the run before it is going.'),
  catchUp: catchUp.default('latest').describe('After a time down: one run for all missed slots, or none.'),
};

const repeated = {
  timezone: timezone.describe('Whose clock crons and windows go by: a name of the IANA database.'),
  startAt: timestamp.nullable().default(null).describe('No slot before.'),
  endAt: timestamp.nullable().default(null).describe('No slot behind.'),
  windows: z
    .array(weekWindow)
    .max(20)
    .default([])
    .describe('Slots are in one of these alone; an interval begins anew where one opens. None: always.'),
  jitterSeconds: z
    .int()
    .min(0)
    .max(86_400)
    .default(0)
    .describe('Each run comes up to so much later, by a number that the slot decides.'),
  ...once,
};

const intervalSeconds = z
  .int()
  .min(smallestIntervalSeconds)
  .max(longestIntervalSeconds)
  .describe('From one slot to the next; the instance may ask for more (MIN_INTERVAL_SECONDS).');

export const schedule = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('interval').describe('Again and again, so far apart.'),
      intervalSeconds,
      ...repeated,
    }),
    z.strictObject({
      type: z.literal('cron').describe('By a cron expression.'),
      cron: z.string().min(1).max(200).describe('Five fields: minute, hour, day of the month, month, day of the week.'),
      ...repeated,
    }),
    z.strictObject({ type: z.literal('once').describe('One time.'), at: timestamp.describe('When.'), ...once }),
    z.strictObject({ type: z.literal('manual').describe('Only when it is asked for.') }),
  ])
  .meta({ id: 'Schedule' });
export type Schedule = z.infer<typeof schedule>;

const storedRepeated = {
  timezone: z.string().optional(),
  startAt: storedTimestamp.optional(),
  endAt: storedTimestamp.optional(),
  windows: z.array(storedWindow).optional(),
  jitterSeconds: z.int().optional(),
  overlap: overlap.optional(),
};

/** As stored: what has its default is left out, but for what was always there. */
export const storedSchedule = z.discriminatedUnion('type', [
  z.object({ type: z.literal('interval'), intervalSeconds, catchUp: catchUp.default('latest'), ...storedRepeated }),
  z.object({ type: z.literal('cron'), cron: z.string(), catchUp: catchUp.default('latest'), ...storedRepeated }),
  z.object({
    type: z.literal('once'),
    at: storedTimestamp,
    catchUp: catchUp.default('latest'),
    overlap: overlap.optional(),
  }),
  z.object({ type: z.literal('manual') }),
]);
export type StoredSchedule = z.infer<typeof storedSchedule>;

export const defaultSchedule = {
  type: 'interval',
  intervalSeconds: 300,
  catchUp: 'latest',
} as const satisfies StoredSchedule;

export const repeatedDefaults = {
  timezone: 'UTC',
  startAt: null,
  endAt: null,
  windows: [],
  jitterSeconds: 0,
  overlap: 'skip',
} as const;

/** Every field that the type has, those that are not stored with their defaults. */
export function wholeSchedule(stored: StoredSchedule): Schedule {
  if (stored.type === 'manual') return stored;
  const { catchUp: caughtUp, overlap: overlapped = 'skip' } = stored;
  const ofAll = { overlap: overlapped, catchUp: caughtUp };
  if (stored.type === 'once') return { type: 'once', at: stored.at, ...ofAll };
  const { timezone: zone = 'UTC', startAt = null, endAt = null, windows = [], jitterSeconds = 0 } = stored;
  const ofRepeated = { timezone: zone, startAt, endAt, windows, jitterSeconds, ...ofAll };
  return stored.type === 'interval'
    ? { type: 'interval', intervalSeconds: stored.intervalSeconds, ...ofRepeated }
    : { type: 'cron', cron: stored.cron, ...ofRepeated };
}

const timeFields: readonly string[] = ['startAt', 'endAt', 'at'];

/** Without what has its default, times as they are stored: two schedules that say the same are stored the same. */
export function toStoredSchedule(given: Schedule): StoredSchedule {
  const plain = new Map<string, unknown>(Object.entries(repeatedDefaults));
  const own = Object.entries(given)
    .filter(([name, value]) => !plain.has(name) || JSON.stringify(value) !== JSON.stringify(plain.get(name)))
    .map(([name, value]): [string, unknown] =>
      typeof value === 'string' && timeFields.includes(name) ? [name, new Date(value).toISOString()] : [name, value],
    );
  return storedSchedule.parse(Object.fromEntries(own));
}

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

/** Of the run of a slot, or of the entry that says why it has none: any process computes the same. */
export function slotRunId(taskId: string, dueMs: number): string {
  return derivedId('exe', dueMs, taskId, 'slot', String(dueMs));
}

/**
 * Why slots have no run: the one before was going, the schedule leaves out what is late, nobody was there to fire them, or
 * the task backs off.
 */
export const skipReason = z.enum(['overlap', 'catch_up_none', 'missed', 'backs_off']);
export type SkipReason = z.infer<typeof skipReason>;

/** What scheduling knows of a task. Every event of the stream carries it whole, so the last event is enough to go on. */
export const plan = z.object({
  taskId: idSchema('ntf'),
  taskRevision: z.int(),
  schedule: storedSchedule,
  active: z.boolean(),
  /** null: nothing is due by itself. */
  nextDueAt: storedTimestamp.nullable(),
  /** The slot that is due then, before its jitter. Absent: the same time. */
  nextSlotAt: storedTimestamp.optional(),
  /** A slot that waits for the run before it to end (`overlap: queue`). Absent: none does. */
  queuedSlotAt: storedTimestamp.optional(),
  /** The last slot that fired or was passed over; a slot at or under it never fires again. */
  highWaterMark: storedTimestamp.nullable(),
  /** The slots in a row up to the mark that were passed over for one reason. Absent: the last one was not. */
  skipping: z.object({ reason: skipReason, from: storedTimestamp, count: z.int().min(1) }).optional(),
});
export type Plan = z.infer<typeof plan>;

const skippedSlots = z.object({ from: storedTimestamp, to: storedTimestamp, count: z.int().min(1) });

export const scheduleEvents = [
  defineEvent('schedule.planned', { version: 1, schema: z.object({ plan }) }),
  defineEvent('schedule.stopped', { version: 1, schema: z.object({ plan }) }),
  /** The task was purged: what its slots put on record between that and this is shown nowhere. */
  defineEvent('schedule.forgotten', { version: 1, schema: z.object({ plan }) }),
  defineEvent('slot.fired', { version: 1, schema: z.object({ plan, run: dueRun, skipped: skippedSlots.nullable() }) }),
  /** Slots that have no run. */
  defineEvent('slots.skipped', {
    version: 1,
    schema: z.object({ plan, slots: skippedSlots, reason: skipReason }),
  }),
  /** A slot came while the run before it was going, and waits for its end. */
  defineEvent('slot.queued', {
    version: 1,
    schema: z.object({ plan, slotAt: storedTimestamp, skipped: skippedSlots.nullable() }),
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
  isRemembered: true,
  name: 'schedules',
  fields: ['organizationId', 'nextDueAt', 'pendingSince', 'shard'],
  indexes: [['nextDueAt'], ['pendingSince'], ['organizationId', 'nextDueAt']],
};
