/** Messages as they would be sent (`delivery.preview`): built by the delivery service, sent nowhere, recorded nowhere. */
import { z } from 'zod';
import { actionType, mostActions } from './action.js';
import { idSchema } from './common.js';
import { notificationRequest } from './delivery.js';

export const previewQuery = z.object({
  /** Whose key the settings of the actions are sealed with. */
  ownerId: z.string(),
  notifications: z
    .array(
      notificationRequest.extend({
        /** Messages that are gathered with it into a digest. Absent: it goes as it is. */
        gathered: z.array(notificationRequest).exactOptional(),
      }),
    )
    .max(mostActions),
});
export type PreviewQuery = z.infer<typeof previewQuery>;
export type PreviewedNotification = PreviewQuery['notifications'][number];

export const messagePreview = z
  .object({
    actionId: idSchema('act').describe('The action.'),
    actionType: actionType.describe('The channel.'),
    kind: z.enum([...notificationRequest.shape.kind.options, 'digest']).describe('What it tells.'),
    title: z.string().describe('The subject of a mail; of other messages the sentence that says what happened.'),
    text: z.string().describe('The text of a mail, or the body of the first request.'),
    html: z.string().optional().describe('Of a mail in HTML.'),
    request: z
      .object({
        method: z.string().describe('Of HTTP, or `smtp`.'),
        url: z
          .string()
          .describe(
            'Without its query and tokens, or the mailboxes masked; of a webhook whole, but for what gives access.',
          ),
        headers: z.record(z.string(), z.string()).describe('Secrets and signatures masked.'),
        body: z.string().nullable().describe('Of the request.'),
      })
      .describe('As it would be sent, secrets and signatures masked; of a mail `smtp` and its recipients.'),
    error: z
      .object({ reason: z.string().describe('A stable word.'), message: z.string().describe('For people.') })
      .nullable()
      .describe('Why nothing could be sent.'),
  })
  .meta({ id: 'MessagePreview' });
export type MessagePreview = z.infer<typeof messagePreview>;

export const previewAnswer = z.object({ messages: z.array(messagePreview) });
