/** For specs: custom robots of DingTalk, with their signature and keyword. */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { kitTimeMs } from '../notification.kit.js';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const secret = 'SECaB3dE5gH7jK9mN1pQ3sT5vW7yZ9';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/oapi\.dingtalk\.com\/robot\/send$/,
      query: z
        .strictObject({
          access_token: z.string().regex(/^[0-9a-f]{64}$/),
          timestamp: z
            .string()
            .regex(/^[0-9]{13}$/)
            .optional(),
          sign: z.string().optional(),
        })
        .refine(
          ({ timestamp, sign }) => {
            if (timestamp === undefined) return sign === undefined;
            const isNow = Math.abs(Number(timestamp) - kitTimeMs) <= 3_600_000;
            return isNow && sign === createHmac('sha256', secret).update(`${timestamp}\n${secret}`).digest('base64');
          },
          { error: '310000 sign not match' },
        ),
      json: z.strictObject({
        msgtype: z.literal('text'),
        text: z.strictObject({ content: upTo(5_000, characters) }),
        at: z.strictObject({ isAtAll: z.literal(false), atMobiles: z.array(z.string()).length(0) }),
      }),
      faults: ({ body, url }) => [
        ...(Buffer.byteLength(body ?? '') > 20_000 ? ['460101 too long'] : []),
        ...(url.includes('sign=') && body?.includes('Meerkat') !== true ? ['310000 keywords not in content'] : []),
      ],
      shown: { 'text.content': 'plainWithMentions' },
      reply: { status: 200, body: { errcode: 0, errmsg: 'ok' } },
    },
  ],
};
