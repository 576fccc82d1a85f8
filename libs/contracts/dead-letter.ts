/** Messages that a consumer gave up on: who had which one, and why. Their content stays in the bus. */
import { z } from 'zod';
import { defineEvent, type EventOf } from './event.js';

export const deadLetterEvents = [
  defineEvent('message.parked', {
    version: 1,
    schema: z.object({
      topic: z.string(),
      group: z.string(),
      messageId: z.string(),
      messageType: z.string(),
      key: z.string(),
      reason: z.string(),
    }),
  }),
] as const;

export type DeadLetterEvent = EventOf<(typeof deadLetterEvents)[number]>;
