/** For specs: WhatsApp's Cloud API: a message by a template. */
import { z } from 'zod';
import { bearer, pngText, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const variable = upTo(1_024, characters)
  .regex(/^[^\n\t]*$/, { error: '132018 a line break in a variable' })
  .refine((text) => !/ {5,}/.test(text), { error: '132018 spaces in a variable' })
  .refine((text) => !/[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/u.test(text), { error: 'markup' });

const body = z.strictObject({
  type: z.literal('body'),
  parameters: z
    .tuple([
      z.strictObject({ type: z.literal('text'), text: variable }),
      z.strictObject({ type: z.literal('text'), text: variable }),
    ])
    .refine((both) => both.reduce((sum, { text }) => sum + characters(text), 0) <= 1_000),
});
const mediaId = '1037543291543636';
const header = z.strictObject({
  type: z.literal('header'),
  parameters: z.tuple([
    z.strictObject({ type: z.literal('image'), image: z.strictObject({ id: z.literal(mediaId) }) }),
  ]),
});

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/graph\.facebook\.com\/v[0-9]+\.0\/[0-9]+\/messages$/,
      headers: bearer(/\S+/),
      json: z.strictObject({
        messaging_product: z.literal('whatsapp'),
        to: z.string().regex(/^[1-9][0-9]{6,14}$/),
        type: z.literal('template'),
        template: z.strictObject({
          name: z.string().regex(/^[a-z0-9_]+$/),
          language: z.strictObject({ code: z.string() }),
          components: z.union([z.tuple([body]), z.tuple([header, body])]),
        }),
      }),
      shown: { 'template.components.*.parameters.*.text': 'plain' },
      reply: {
        status: 200,
        body: { messaging_product: 'whatsapp', messages: [{ id: 'wamid.HBg', message_status: 'accepted' }] },
      },
    },
    {
      method: 'POST',
      address: /^https:\/\/graph\.facebook\.com\/v[0-9]+\.0\/[0-9]+\/media$/,
      headers: bearer(/\S+/),
      parts: z.strictObject({
        messaging_product: z.literal('whatsapp'),
        type: z.literal('image/png'),
        file: pngText,
      }),
      reply: { status: 200, body: { id: mediaId } },
    },
  ],
};
