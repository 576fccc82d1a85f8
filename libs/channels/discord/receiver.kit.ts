/** For specs: webhooks of Discord. */
import { z } from 'zod';
import { pngText, publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const embed = z
  .strictObject({
    title: upTo(256, characters),
    url: publicAddress.optional(),
    color: z.int().min(0).max(0xff_ff_ff),
    timestamp: z.iso.datetime(),
    fields: z
      .array(z.strictObject({ name: upTo(256, characters), value: upTo(1_024, characters), inline: z.boolean() }))
      .max(25),
  })
  .refine(
    ({ title, fields }) =>
      characters(title) + fields.reduce((sum, { name, value }) => sum + characters(name) + characters(value), 0) <=
      6_000,
    { error: '50035 the embed is too long' },
  );

const message = {
  content: upTo(2_000, characters),
  username: upTo(80, characters)
    .regex(/^(?!.*(?:clyde|discord))/is)
    .optional(),
  flags: z.literal(4).optional(),
  allowed_mentions: z.strictObject({
    parse: z.array(z.string()).length(0),
    roles: z.array(z.string()).max(100).optional(),
  }),
};
const withPicture = embed.safeExtend({ image: z.strictObject({ url: z.literal('attachment://chart.png') }) });

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address:
        /^https:\/\/((canary|ptb)\.)?discord(app)?\.com\/api(\/v[0-9]{1,2})?\/webhooks\/[0-9]{15,20}\/[-_A-Za-z0-9]{20,200}$/,
      query: z.strictObject({ wait: z.literal('true'), thread_id: z.string().optional() }),
      json: z.strictObject({ ...message, embeds: z.array(embed).max(10).optional() }),
      shown: { content: 'plain', 'embeds.*.fields.*.name': 'discord', 'embeds.*.fields.*.value': 'discord' },
      reply: { status: 200, body: { id: '1234567890123456789', content: 'x' } },
    },
    {
      method: 'POST',
      address:
        /^https:\/\/((canary|ptb)\.)?discord(app)?\.com\/api(\/v[0-9]{1,2})?\/webhooks\/[0-9]{15,20}\/[-_A-Za-z0-9]{20,200}$/,
      query: z.strictObject({ wait: z.literal('true'), thread_id: z.string().optional() }),
      parts: z.strictObject({
        payload_json: z
          .string()
          .transform((text): unknown => JSON.parse(text))
          .pipe(z.strictObject({ ...message, embeds: z.array(withPicture).length(1) })),
        'files[0]': pngText,
      }),
      reply: { status: 200, body: { id: '1234567890123456789', content: 'x' } },
    },
  ],
};
