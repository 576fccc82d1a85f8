/** What people did that changes no setting, and that somebody will ask about: events for the audit, and nothing else. */
import { z } from 'zod';
import { defineEvent, type EventOf } from './event.js';

/** The id of what it was done to. */
const resource = z.string();

/** The first ones did not count what was left out. */
interface FirstApplied {
  readonly resource: string;
  readonly created: number;
  readonly updated: number;
  readonly archived: number;
  readonly unwritten?: number;
}

export const activityEvents = [
  /** The configuration of all tasks. */
  defineEvent('activity.exported', {
    version: 1,
    schema: z.object({ resource, what: z.literal('configuration') }),
  }),
  /** Each task that it changed has an event of its own, of the same request. */
  defineEvent('activity.applied', {
    version: 1,
    schema: z.object({
      resource,
      created: z.int(),
      updated: z.int(),
      archived: z.int(),
      /** Entries of the file that were refused in the end, or could not be written; of the numbers above or of contacts. */
      unwritten: z.int().default(0),
    }),
    complete: (data: FirstApplied) => ({ unwritten: 0, ...data }),
  }),
  defineEvent('activity.run_requested', {
    version: 1,
    schema: z.object({ resource, executionId: z.string(), force: z.boolean(), dryRun: z.boolean() }),
  }),
  defineEvent('activity.message_tested', {
    version: 1,
    schema: z.object({ resource, actionId: z.string(), deliveryId: z.string() }),
  }),
  defineEvent('activity.delivery_resent', { version: 1, schema: z.object({ resource }) }),
  defineEvent('activity.deliveries_recovered', {
    version: 1,
    schema: z.object({ resource, from: z.string(), to: z.string().nullable(), resent: z.int() }),
  }),
] as const;
export type ActivityEvent = EventOf<(typeof activityEvents)[number]>;

export const activityStream = (id: string): string => `activity-${id}`;

const [exported, applied, runRequested, messageTested, resent, recovered] = activityEvents;

/** Asks for one to be put on record (`account.record_activity`). */
export const recordActivity = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal(exported.type), data: exported.schema }),
  z.strictObject({ type: z.literal(applied.type), data: applied.schema }),
  z.strictObject({ type: z.literal(runRequested.type), data: runRequested.schema }),
  z.strictObject({ type: z.literal(messageTested.type), data: messageTested.schema }),
  z.strictObject({ type: z.literal(resent.type), data: resent.schema }),
  z.strictObject({ type: z.literal(recovered.type), data: recovered.schema }),
]);
