/** Messages that a consumer gave up on: who had which one, and why. Their content stays in the bus's parking place. */
import { z } from 'zod';

export const parkedEvents = {
  'message.parked': z.object({
    topic: z.string(),
    group: z.string(),
    messageId: z.string(),
    messageType: z.string(),
    key: z.string(),
    reason: z.string(),
  }),
};

export type ParkedEvent = {
  readonly type: 'message.parked';
  readonly data: z.infer<(typeof parkedEvents)['message.parked']>;
};
