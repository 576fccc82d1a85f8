/** Deliveries: one notification on its way to one receiver, attempt by attempt. */
import { z } from 'zod';
import { actionType, notificationKind, storedAction } from './action.js';
import { idSchema, jsonObject, storedTimestamp } from './common.js';
import { defineEvent, type EventOf } from './event.js';
import { transition } from './policy.js';
import type { ViewDefinition } from '#read-store/read-store';

/** What a message is about: frozen when the decision is made, so that every try says the same. */
export const messageContext = z.object({
  task: z.object({
    id: idSchema('ntf'),
    name: z.string(),
    /** Absent: there is none. */
    description: z.string().exactOptional(),
    url: z.string(),
    tags: z.array(z.string()),
  }),
  execution: z.object({
    id: idSchema('exe'),
    outcome: z.boolean().nullable(),
    values: jsonObject,
    finishedAt: storedTimestamp,
    finalUrl: z.string().nullable(),
  }),
  transition: transition.nullable(),
  /** One plain sentence that says what happened. */
  message: z.string(),
  /** What to do about a run that failed. Absent: nothing is known that would help. */
  hint: z.string().exactOptional(),
  /** What the run before reported. Absent: nothing, or the same. */
  before: jsonObject.exactOptional(),
  /** Of the page. Absent: it has none. */
  title: z.string().exactOptional(),
  /** What stands around what changed on the page. */
  excerpt: z.object({ before: z.string(), after: z.string() }).exactOptional(),
  /** The last numbers reported as the value, oldest first. Absent: too few for a chart. */
  points: z.array(z.object({ at: storedTimestamp, value: z.number() })).exactOptional(),
});

/** A decision to notify one receiver: the id is derived from task, episode, kind and action. */
export const notificationRequest = z.object({
  deliveryId: idSchema('dlv'),
  organizationId: idSchema('org'),
  taskId: idSchema('ntf'),
  executionId: idSchema('exe'),
  /** As it was when the decision was made, sealed. */
  action: storedAction,
  kind: z.enum([...notificationKind.options, 'test']),
  /** What a message and the one that ends it have in common, within the task. Absent: it stands for itself. */
  episode: z.string().exactOptional(),
  context: messageContext,
  createdAt: storedTimestamp,
  expiresAt: storedTimestamp,
  /** The first message of the episode by this action. Absent: this is it. */
  openedBy: idSchema('dlv').exactOptional(),
  /** The message of the episode by this action before this one. Absent: this is the first. */
  follows: idSchema('dlv').exactOptional(),
  /** Not sent before then. Absent: at once. */
  heldUntil: storedTimestamp.exactOptional(),
  /** What has to hold when it is sent. Absent: nothing. */
  provided: z.object({ kind: z.enum(['condition', 'health', 'value']), is: z.string() }).exactOptional(),
  /** The message that gathers this one, while that has not been sent. Absent: it goes by itself. */
  gatheredBy: idSchema('dlv').exactOptional(),
});
export type NotificationRequest = z.infer<typeof notificationRequest>;

export const deliveryState = z.enum([
  'pending',
  'sending',
  'delivered',
  'retrying',
  'failed',
  'expired',
  'suppressed',
  'unknown',
]);

/** Where an attempt went: an origin and a path without its tokens and query, or `smtp` and a masked mailbox. */
export const requestSummary = z.object({
  method: z.string().describe('Of HTTP, or `smtp`.'),
  url: z.string().describe('Without tokens and query, or the mailboxes masked.'),
});
export type RequestSummary = z.infer<typeof requestSummary>;

/** What is kept of an attempt: never a secret, and an address only masked. */
export const attemptRecord = z.object({
  durationMs: z.number().describe('How long it took.'),
  request: requestSummary.describe('Where it went.'),
  response: z
    .object({
      status: z.int().describe('Of the answer.'),
      body: z.string().describe('Its first 2 KiB, secrets masked.'),
    })
    .nullable()
    .describe('What came back; null: nothing.'),
  error: z
    .object({ reason: z.string().describe('A stable word.'), message: z.string().describe('For people.') })
    .nullable()
    .describe('What went wrong; null: nothing.'),
});
export type AttemptRecord = z.infer<typeof attemptRecord>;

/**
 * A delivery may have several parts that answer one by one: the recipients of a mail, the requests of custom code.
 * A settled part is never sent again: it arrived (`refused` null) or was refused for good.
 */
export const settledPart = z.object({
  part: z.int().min(0),
  refused: z.string().nullable(),
  /** What the receiver gave for it that later messages of the episode need, such as its id. Absent: nothing. */
  receipt: jsonObject.exactOptional(),
});
export type SettledPart = z.infer<typeof settledPart>;

/** `settled`: parts settled by this attempt. */
export const attemptEnded = defineEvent('attempt.ended', {
  version: 1,
  schema: z.object({
    attempt: z.int(),
    at: storedTimestamp,
    result: attemptRecord,
    settled: z.array(settledPart),
    next: z.discriminatedUnion('state', [
      z.object({ state: z.literal('delivered') }),
      z.object({ state: z.literal('retrying'), nextAttemptAt: storedTimestamp }),
      z.object({ state: z.literal('failed'), reason: z.string() }),
      z.object({ state: z.literal('expired'), reason: z.string() }),
    ]),
  }),
});

export const deliveryEvents = [
  defineEvent('delivery.requested', {
    version: 1,
    schema: z.object({
      request: notificationRequest,
      /** Where people reached this instance then; links begin with it on every try. The first events have none. */
      linkBase: z.string().nullable().default(null),
    }),
    complete: ({ request, linkBase = null }: { request: NotificationRequest; linkBase?: string | null }) => ({
      request,
      linkBase,
    }),
  }),
  /** The fence: its revision is what a second worker would conflict with. `timeoutMs` says how long to wait for its end. */
  defineEvent('attempt.started', {
    version: 1,
    schema: z.object({
      attempt: z.int(),
      at: storedTimestamp,
      timeoutMs: z.int(),
      worker: z.string(),
      request: requestSummary,
    }),
  }),
  attemptEnded,
  /** The process died between sending and writing down the answer: nobody knows whether it arrived. */
  defineEvent('attempt.lost', {
    version: 1,
    schema: z.object({
      attempt: z.int(),
      at: storedTimestamp,
      next: z.discriminatedUnion('policy', [
        z.object({ policy: z.literal('retry'), nextAttemptAt: storedTimestamp }),
        z.object({ policy: z.literal('hold') }),
      ]),
    }),
  }),
  defineEvent('delivery.expired', { version: 1, schema: z.object({ at: storedTimestamp }) }),
  /** It will not be sent; `by`: what says its content instead. */
  defineEvent('delivery.suppressed', {
    version: 1,
    schema: z.object({ at: storedTimestamp, reason: z.string(), by: idSchema('dlv').exactOptional() }),
  }),
  /** What has to hold may hold then. */
  defineEvent('delivery.postponed', {
    version: 1,
    schema: z.object({ at: storedTimestamp, reason: z.string(), until: storedTimestamp }),
  }),
  /** Another message of the same action goes out with this one. */
  defineEvent('delivery.gathered', {
    version: 1,
    schema: z.object({ at: storedTimestamp, request: notificationRequest }),
  }),
  /** A person wants it sent again, by the action as it is now. */
  defineEvent('delivery.resent', {
    version: 1,
    schema: z.object({ at: storedTimestamp, expiresAt: storedTimestamp, action: storedAction }),
  }),
] as const;
export type DeliveryEvent = EventOf<(typeof deliveryEvents)[number]>;

/** The view `deliveries`: as the API answers it, plus `dueAt` for the worker. */
export const deliveryDocument = z.object({
  id: idSchema('dlv').describe('Of this delivery; the same on every try.'),
  organizationId: idSchema('org'),
  notificationId: idSchema('ntf').describe('The task.'),
  executionId: idSchema('exe').describe('The run that it tells of.'),
  actionId: idSchema('act').describe('The action that it goes by.'),
  actionType: actionType.describe('The channel.'),
  /** Action and episode, under which a later message finds the first one. Absent: it stands for itself. */
  thread: z.string().exactOptional(),
  type: z.string().describe('The kind of message: `notification.triggered` and so on.'),
  state: deliveryState.describe('How far it is, or how it ended.'),
  reason: z.string().nullable().describe('Why it ended so.'),
  attempts: z
    .array(attemptRecord.extend({ at: storedTimestamp.describe('When it was tried.') }))
    .describe('Each try, the first one first.'),
  createdAt: storedTimestamp.describe('When it was decided.'),
  nextAttemptAt: storedTimestamp.nullable().describe('When it is tried next; null: not any more.'),
  expiresAt: storedTimestamp.describe('It is given up then.'),
  finishedAt: storedTimestamp.nullable().describe('When it ended.'),
  /** When a worker has to look at it again; null once it is finished. */
  dueAt: storedTimestamp.nullable(),
});

/** Of the messages of one action in one episode. */
export function threadOf({ action, episode }: NotificationRequest): string | null {
  return episode === undefined ? null : `${action.id}/${episode}`;
}
export type DeliveryDocument = z.infer<typeof deliveryDocument>;

export const deliveriesView: ViewDefinition<DeliveryDocument> = {
  isRemembered: true,
  name: 'deliveries',
  fields: ['organizationId', 'notificationId', 'state', 'actionType', 'thread', 'createdAt', 'dueAt'],
  indexes: [
    ['organizationId', 'createdAt'],
    ['organizationId', 'state', 'actionType', 'createdAt'],
    ['notificationId', 'createdAt'],
    ['thread', 'createdAt'],
    ['dueAt'],
    ['createdAt'],
  ],
  totals: ['organizationId', 'state', 'actionType'],
};

/** Where a delivery's request and attempts are. */
export const deliveryStream = (deliveryId: string): string => `dlv-${deliveryId}`;

/** What the delivery service is asked to do (`delivery.change`). */
export const deliveryChange = z.discriminatedUnion('type', [
  z.object({ type: z.literal('resend'), deliveryId: idSchema('dlv') }),
  z.object({
    type: z.literal('recover'),
    /** Of deliveries that were decided then. */
    from: z.string(),
    to: z.string().nullable(),
    states: z.array(deliveryState),
    actionType: actionType.nullable(),
  }),
]);
export type DeliveryChange = z.infer<typeof deliveryChange>;

/** `position` null: nothing was written. `left`: there are more that match. */
export const deliveriesChanged = z.object({ position: z.number().nullable(), resent: z.int(), left: z.boolean() });
export type DeliveriesChanged = z.infer<typeof deliveriesChanged>;
