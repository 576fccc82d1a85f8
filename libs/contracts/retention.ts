/**
 * Days that were folded: of the runs of a task, and of its deliveries, one record of a day takes the place of all its events.
 * And the view `figures`, which statistics are answered from: a document per task and hour, of a folded day one for all of it.
 */
import { z } from 'zod';
import { idSchema, storedTimestamp } from './common.js';
import { countedTime, runFigures } from './figures.js';
import { decisionReason } from './policy.js';
import { defineEvent, type EventOf } from './event.js';
import type { ViewDefinition } from '#read-store/read-store';

/** `2026-11-24`, UTC. */
const day = z.string().meta({ format: 'date' });

const percentiles = z.object({ p50: z.number(), p95: z.number() });

/** A change of condition or health in short. */
export const foldedTransition = z.object({
  at: storedTimestamp,
  kind: z.enum(['condition', 'health']),
  from: z.string(),
  to: z.string(),
  reason: decisionReason,
  executionId: idSchema('exe'),
  /** *The* value, where it is a number or a short text. */
  value: z.union([z.number(), z.string()]).nullable(),
  deliveryIds: z.array(idSchema('dlv')),
});
export type FoldedTransition = z.infer<typeof foldedTransition>;

/** So many transitions and ids of runs by hand of a day are kept. */
export const mostKeptOfADay = 1_000;
/** So many deliveries of a day are named, which is what any engine takes as one event. */
export const mostDeliveriesOfADay = 20_000;

/** What stands for the events that went. */
const foldedEvents = z.object({
  count: z.int(),
  /** SHA-256 over them, in their order, as they were archived: a line of JSON each. */
  hash: z.string(),
  /** Whether there was an archive then. */
  archived: z.boolean(),
});

/** Where folding stands in each of a task's streams: the first revision that was not folded yet. */
const foldedUpTo = z.object({ run: z.int(), schedule: z.int(), claim: z.int() });

/** How far a task's runs and deliveries are folded; every event of its stream carries it whole. */
export const foldState = z.object({
  /** The last day whose runs are folded; null: none. */
  runsThrough: day.nullable(),
  upTo: foldedUpTo,
  /** The first revisions that have to stay: earlier ones where later events make sense by them alone. */
  stays: foldedUpTo,
  /** Since when the condition that the first run that is left found had been true, by which settings; null: it was not. */
  trueSince: z.object({ at: storedTimestamp, leftFrom: storedTimestamp, codeRevision: z.int() }).nullable(),
  /** Pages of folded runs that are still pointed to: by the open episode, by the first run that is left. */
  pages: z.object({
    episode: z.string().nullable(),
    first: z.string().nullable(),
    /** Of both, those of their screenshots; absent: there are none. */
    screenshots: z.object({ episode: z.string().exactOptional(), first: z.string().exactOptional() }).exactOptional(),
  }),
  /** The last day whose deliveries are folded; null: none. */
  deliveriesThrough: day.nullable(),
  /** Folded deliveries whose events stay, since the open episode points to them. Absent: none. */
  deliveriesLeft: z.array(idSchema('dlv')).exactOptional(),
});
export type FoldState = z.infer<typeof foldState>;

const foldedShadow = z.object({
  startedAt: storedTimestamp,
  runs: z.int(),
  same: z.int(),
  onlyLive: z.int(),
  onlyShadow: z.int(),
  failed: z.int(),
});
export type FoldedShadow = z.infer<typeof foldedShadow>;

export const runsFolded = defineEvent('runs.folded', {
  version: 1,
  schema: z.object({
    taskId: idSchema('ntf'),
    day,
    figures: runFigures,
    /** Exact, of the whole day; null: no run was measured. */
    percentiles: z
      .object({ queueMs: percentiles, fetchMs: percentiles, parseMs: percentiles, evaluateMs: percentiles })
      .nullable(),
    counted: countedTime.nullable(),
    transitions: z.array(foldedTransition),
    /** Transitions beyond those that are kept. */
    transitionsLeftOut: z.int(),
    /** Runs by hand: the id of any other tells its task and slot. */
    manualRunIds: z.array(idSchema('exe')),
    /** What was counted of candidates beside the task's own settings. */
    shadows: z.array(foldedShadow),
    events: foldedEvents,
    state: foldState,
  }),
});

export const deliveriesFolded = defineEvent('deliveries.folded', {
  version: 1,
  schema: z.object({
    taskId: idSchema('ntf'),
    day,
    /** By state, by channel, and by the reason of those that did not arrive. */
    states: z.record(z.string(), z.int()),
    actionTypes: z.record(z.string(), z.int()),
    reasons: z.record(z.string(), z.int()),
    attempts: z.int(),
    deliveryIds: z.array(idSchema('dlv')),
    /** Deliveries beyond those that are named: their events stay. */
    idsLeftOut: z.int(),
    /** Deliveries of earlier days whose events stayed until now. Absent: none. */
    freedIds: z.array(idSchema('dlv')).exactOptional(),
    events: foldedEvents,
    state: foldState,
  }),
});

export const foldEvents = [runsFolded, deliveriesFolded] as const;
export type FoldEvent = EventOf<(typeof foldEvents)[number]>;
export type RunsFolded = Extract<FoldEvent, { readonly type: 'runs.folded' }>['data'];
export type DeliveriesFolded = Extract<FoldEvent, { readonly type: 'deliveries.folded' }>['data'];

/** What is left of a task's folded days. */
export const statsStream = (taskId: string): string => `stats-${taskId}`;

export const dayMs = 86_400_000;
export const hourMs = 3_600_000;

export const dayOf = (time: string): string => time.slice(0, 10);
export const dayStart = (of: string): string => `${of}T00:00:00.000Z`;
/** The first moment behind the day. */
export const dayEnd = (of: string): string => new Date(Date.parse(dayStart(of)) + dayMs).toISOString();
/** Times have milliseconds: none lies between this and the end. */
export const lastMomentOf = (of: string): string => new Date(Date.parse(dayEnd(of)) - 1).toISOString();
export const dayAfter = (of: string): string => dayOf(dayEnd(of));

export const figuresDocument = z.object({
  id: z.string(),
  organizationId: idSchema('org'),
  notificationId: idSchema('ntf'),
  from: storedTimestamp,
  /** Where the hour begins; null: it is a folded day. */
  hour: storedTimestamp.nullable(),
  figures: runFigures,
  counted: countedTime.nullable(),
  /** Of a folded day. */
  folded: runsFolded.schema.pick({ percentiles: true, transitions: true, transitionsLeftOut: true }).optional(),
});
export type FiguresDocument = z.infer<typeof figuresDocument>;

/** The figures of an organisation's tasks in an hour or a day, beside theirs in the same view: what is shown of many tasks. */
export const organizationFigures = z.object({
  id: z.string(),
  organizationId: idSchema('org'),
  from: storedTimestamp,
  sum: z.enum(['hour', 'day']),
  /** Of so many tasks the day is folded. */
  folded: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  skipped: z.int(),
  missed: z.int(),
  transitions: z.int(),
  notified: z.int(),
  timings: runFigures.shape.timings.pick({ fetchMs: true, evaluateMs: true }),
  /** To the end of each hour in which a task ran, as if its condition stayed as it is. */
  trueMs: z.int(),
  falseMs: z.int(),
  /** Parts by the condition behind their last run. */
  endedTrue: z.int(),
  endedFalse: z.int(),
});
export type OrganizationFigures = z.infer<typeof organizationFigures>;

const figuresFields: Omit<ViewDefinition, 'document'> = {
  name: 'figures',
  fields: ['organizationId', 'notificationId', 'from', 'hour', 'sum'],
  indexes: [['notificationId', 'from'], ['organizationId', 'sum', 'from'], ['hour']],
  readByFew: true,
};
export const figuresView: ViewDefinition<FiguresDocument> = figuresFields;
export const organizationFiguresView: ViewDefinition<OrganizationFigures> = figuresFields;

export const sumId = (organizationId: string, sum: OrganizationFigures['sum'], from: string): string =>
  `${organizationId}/${from.slice(0, sum === 'hour' ? 13 : 10)}`;

/** The view `folded_days`: what is known of runs and deliveries of which nothing else is left, a document per task, day and kind. */
export const foldedDayDocument = z.object({
  id: z.string(),
  organizationId: idSchema('org'),
  notificationId: idSchema('ntf'),
  kind: z.enum(['runs', 'deliveries']),
  from: storedTimestamp,
  /** Of runs by hand, of deliveries. */
  ids: z.array(z.string()),
});
export type FoldedDayDocument = z.infer<typeof foldedDayDocument>;

export const foldedDaysView: ViewDefinition<FoldedDayDocument> = {
  name: 'folded_days',
  fields: ['organizationId', 'notificationId', 'kind', 'from', 'ids'],
  indexes: [
    ['organizationId', 'kind', 'from'],
    ['organizationId', 'ids', 'from'],
    ['notificationId', 'from'],
  ],
  lists: ['ids'],
};
