/** Names that cross a service border: topics, requests, and per message type its topic. */
import { accountEvents } from './account.js';
import { deliveryEvents } from './delivery.js';
import { parkedEvents } from './parked.js';
import { runEvents } from './run.js';
import { scheduleEvents } from './schedule.js';
import { taskEvents } from './task.js';
import type { z } from 'zod';

export const topics = ['task', 'schedule', 'run', 'delivery'] as const;
export type Topic = (typeof topics)[number];

/** Requests and who answers: the gateway asks, the owner of the noun decides. */
export const requests = {
  taskChange: 'task.change',
  taskHistory: 'task.history',
  scheduleTrigger: 'schedule.trigger',
  runTest: 'run.test',
  runReplay: 'run.replay',
  accountSetup: 'account.setup',
  keyCreate: 'account.create_key',
  keyShow: 'account.show_key',
  keyRevoke: 'account.revoke_key',
  sessionOpen: 'account.open_session',
  sessionShow: 'account.show_session',
  sessionClose: 'account.close_session',
} as const;

interface EventSchema {
  readonly version: number;
  readonly schema: z.ZodType;
}

/** Every event that is stored: the codec checks against it on the way in, and knows the newest version. */
export const eventCatalogue: Readonly<Record<string, EventSchema>> = Object.fromEntries(
  Object.entries({
    ...taskEvents,
    ...scheduleEvents,
    ...runEvents,
    ...deliveryEvents,
    ...accountEvents,
    ...parkedEvents,
  }).map(([type, schema]) => [type, { version: 1, schema }]),
);
