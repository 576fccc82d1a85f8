/** For specs: a Mattermost server, by its API reference and what its webhooks take. */
import { z } from 'zod';
import { bearer, pngText, publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const attachments = z
  .array(
    z.strictObject({
      fallback: z.string().min(1),
      color: z.string().regex(/^#[0-9a-f]{6}$/),
      title: z.string().min(1),
      title_link: publicAddress.optional(),
      text: upTo(16_383, characters),
    }),
  )
  .length(1);
const text = upTo(4_000, characters);
const id = z.string().regex(/^[a-z0-9]{26}$/);

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/chat\.example\.com\/hooks\/[a-z0-9]{26}$/,
      json: z.strictObject({ text, attachments }),
      faults: ({ body }) => (characters(body ?? '') > 32_000 ? ['the server splits the post'] : []),
      shown: { text: 'commonMark', 'attachments.*.text': 'commonMark', 'attachments.*.fallback': 'commonMark' },
      reply: { status: 200, body: 'ok' },
    },
    {
      method: 'POST',
      address: /^https:\/\/chat\.example\.com\/team\/api\/v4\/posts$/,
      headers: bearer(/[a-z0-9]{26}/),
      json: z.union([
        z.strictObject({
          channel_id: id,
          message: text,
          root_id: id.optional(),
          props: z.strictObject({ attachments }),
        }),
        z.strictObject({
          channel_id: id,
          message: z.literal('chart.png'),
          root_id: id,
          file_ids: z.tuple([z.literal('f3m5n7p9q1r3s5t7v9w1x3y5z7')]),
        }),
      ]),
      shown: { message: 'commonMark', 'props.attachments.*.text': 'commonMark' },
      reply: { status: 201, body: { id: 'k3m5n7p9q1r3s5t7v9w1x3y5z7', root_id: '' } },
    },
    {
      method: 'POST',
      address: /^https:\/\/chat\.example\.com\/team\/api\/v4\/files$/,
      headers: bearer(/[a-z0-9]{26}/),
      parts: z.strictObject({ channel_id: id, files: pngText }),
      reply: { status: 201, body: { file_infos: [{ id: 'f3m5n7p9q1r3s5t7v9w1x3y5z7' }], client_ids: [] } },
    },
  ],
};
