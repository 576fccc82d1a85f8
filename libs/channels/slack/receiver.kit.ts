/** For specs: Slack's incoming webhooks and chat.postMessage, as their documents have it. */
import { z } from 'zod';
import { bearer, publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const plainText = (limit: number): z.ZodType =>
  z.strictObject({ type: z.literal('plain_text'), text: upTo(limit, characters), emoji: z.boolean().optional() });
const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('header'), text: plainText(150) }),
  z.strictObject({
    type: z.literal('section'),
    text: z.union([
      plainText(3_000),
      z.strictObject({
        type: z.literal('mrkdwn'),
        text: z.string().regex(/^(?:<(?:!here|!channel|!subteam\^S\w+|@[UW]\w+)> ?)+$/),
      }),
    ]),
  }),
  z.strictObject({
    type: z.literal('actions'),
    elements: z
      .array(z.strictObject({ type: z.literal('button'), text: plainText(75), url: publicAddress.max(3_000) }))
      .min(1)
      .max(25),
  }),
]);
const message = {
  text: upTo(4_000, characters),
  blocks: z
    .array(block)
    .max(50)
    .refine((blocks) => JSON.stringify(blocks).length <= 26_400 && characters(JSON.stringify(blocks)) <= 13_200, {
      error: 'msg_blocks_too_long',
    })
    .optional(),
  unfurl_links: z.literal(false),
  unfurl_media: z.literal(false),
};
const shown = { text: 'slack', 'blocks.*.text.text': 'plain' } as const;

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/hooks\.slack(-gov)?\.com\/services\/T[A-Z0-9]+\/B[A-Z0-9]+\/[A-Za-z0-9]+$/,
      json: z.strictObject(message),
      shown,
      reply: { status: 200, body: 'ok' },
    },
    {
      method: 'POST',
      address: /^https:\/\/slack\.com\/api\/chat\.postMessage$/,
      headers: bearer(/xoxb-[A-Za-z0-9-]+/).and(
        z.looseObject({ 'content-type': z.literal('application/json; charset=utf-8') }),
      ),
      json: z.strictObject({
        ...message,
        channel: z.string().regex(/^[CGD][A-Z0-9]+$/),
        thread_ts: z
          .string()
          .regex(/^[0-9]+\.[0-9]{6}$/)
          .optional(),
        reply_broadcast: z.boolean().optional(),
      }),
      shown,
      reply: { status: 200, body: { ok: true, channel: 'C0123456789', ts: '1767323045.000100', message: {} } },
    },
    {
      method: 'POST',
      address: /^https:\/\/slack\.com\/api\/files\.getUploadURLExternal$/,
      headers: bearer(/xoxb-[A-Za-z0-9-]+/),
      form: z.strictObject({ filename: z.literal('chart.png'), length: z.string().regex(/^[1-9][0-9]*$/) }),
      reply: {
        status: 200,
        body: { ok: true, upload_url: 'https://files.slack.com/upload/v1/CwABAAAAXAoAA', file_id: 'F0123456789' },
      },
    },
    {
      method: 'POST',
      address: /^https:\/\/files\.slack\.com\/upload\/v1\/[A-Za-z0-9]+$/,
      headers: z.strictObject({ 'content-type': z.literal('image/png') }),
      isPicture: true,
      reply: { status: 200, body: 'OK - 120' },
    },
    {
      method: 'POST',
      address: /^https:\/\/slack\.com\/api\/files\.completeUploadExternal$/,
      headers: bearer(/xoxb-[A-Za-z0-9-]+/).and(
        z.looseObject({ 'content-type': z.literal('application/json; charset=utf-8') }),
      ),
      json: z.strictObject({
        files: z.array(z.strictObject({ id: z.literal('F0123456789'), title: z.literal('chart.png') })).length(1),
        channel_id: z.string().regex(/^[CGD][A-Z0-9]+$/),
        thread_ts: z.string().regex(/^[0-9]+\.[0-9]{6}$/),
      }),
      reply: { status: 200, body: { ok: true, files: [{ id: 'F0123456789', title: 'chart.png' }] } },
    },
  ],
};
