/** For specs: custom bots of Feishu and Lark, with their signature and keyword. */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { kitTimeMs } from '../notification.kit.js';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const secret = 'aB3dE5gH7jK9mN1pQ3sT5v';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/open\.(feishu\.cn|larksuite\.com)\/open-apis\/bot\/v2\/hook\/[-0-9a-f]{36}$/,
      json: z
        .strictObject({
          timestamp: z
            .string()
            .regex(/^[0-9]{10}$/)
            .optional(),
          sign: z.string().optional(),
          msg_type: z.literal('text'),
          content: z.strictObject({ text: upTo(19_990, characters) }),
        })
        .refine(
          ({ timestamp, sign }) => {
            if (timestamp === undefined) return sign === undefined;
            const isNow = Math.abs(Number(timestamp) * 1_000 - kitTimeMs) <= 3_600_000;
            return isNow && sign === createHmac('sha256', `${timestamp}\n${secret}`).update('').digest('base64');
          },
          { error: '19021 sign match fail' },
        )
        .refine(({ sign, content }) => sign === undefined || content.text.includes('Meerkat'), {
          error: '19024 Key Words Not Found',
        })
        .refine(({ content }) => !content.text.includes('<'), { error: 'a tag' }),
      faults: ({ body }) => (Buffer.byteLength(body ?? '') > 20_480 ? ['9499 too large'] : []),
      shown: { 'content.text': 'plain' },
      reply: { status: 200, body: { code: 0, msg: 'success', data: {} } },
    },
  ],
};
