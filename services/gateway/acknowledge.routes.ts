/** Taking on what is open, over the API. */
import { z } from 'zod';
import { timestamp } from '#contracts/common';
import { route } from '#http/route';
import { taskAnswer } from './task-answer.js';

export const acknowledgeNotification = route({
  method: 'POST',
  path: '/api/notifications/{id}/acknowledge',
  operationId: 'acknowledgeNotification',
  summary: 'Take on what is open at a notification task',
  description:
    'The episode that is open, of the condition or of errors, sends no reminders and no escalation (`afterSeconds`) until it ends or `until` is over. Who did it is on record. 404 `nothing_open` where there is none.',
  tag: 'Notifications',
  access: 'write',
  ids: { id: { prefix: 'ntf', of: 'notification' } },
  body: z.strictObject({
    until: timestamp
      .optional()
      .describe('Reminders and escalations come again from then on; left out: not before it ends.'),
    note: z.string().min(1).max(500).optional().describe('For those who look later.'),
  }),
  emptyBody: {},
  bodyExample: { note: 'Anna looks at it.' },
  answers: [
    {
      status: 200,
      description: 'The task as it is now.',
      envelope: 'data',
      schema: taskAnswer,
      headers: { ETag: 'The revision, for If-Match.' },
    },
  ],
});
