/** For specs: a Teams workflow, by the schema of adaptive cards and the limit of a message. */
import { z } from 'zod';
import { publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const textRun = z.strictObject({
  type: z.literal('TextRun'),
  text: upTo(12_000, characters),
  weight: z.enum(['Default', 'Lighter', 'Bolder']).optional(),
  size: z.enum(['Default', 'Small', 'Medium', 'Large', 'ExtraLarge']).optional(),
});
const card = z.strictObject({
  $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
  type: z.literal('AdaptiveCard'),
  version: z.string().regex(/^1\.[0-5]$/),
  body: z.array(z.strictObject({ type: z.literal('RichTextBlock'), inlines: z.array(textRun).min(1) })).min(1),
  actions: z
    .array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string().min(1), url: publicAddress }))
    .max(6)
    .optional(),
  msteams: z.strictObject({ width: z.literal('full') }),
});

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/[a-z0-9.-]+\.(logic\.azure\.com|environment\.api\.powerplatform\.com)\//,
      query: z.looseObject({ sig: z.string().min(1) }),
      json: z.strictObject({
        type: z.literal('message'),
        attachments: z.tuple([
          z.strictObject({
            contentType: z.literal('application/vnd.microsoft.card.adaptive'),
            contentUrl: z.null(),
            content: card,
          }),
        ]),
      }),
      faults: ({ body }) => (Buffer.byteLength(body ?? '') > 28_000 ? ['Request Entity Too Large'] : []),
      shown: { 'attachments.*.content.body.*.inlines.*.text': 'plain' },
      reply: { status: 202, body: '' },
    },
  ],
};
