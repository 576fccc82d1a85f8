/** For specs: LINE's Messaging API: pushing a message. */
import { z } from 'zod';
import { bearer, upTo, type VendorReceiver } from '../receiver.kit.js';
import { utf16 } from '../text-limits.js';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/api\.line\.me\/v2\/bot\/message\/push$/,
      headers: bearer(/\S{60,}/).and(z.looseObject({ 'x-line-retry-key': z.uuid() })),
      json: z.strictObject({
        to: z.string().regex(/^[UCR][0-9a-f]{32}$/),
        messages: z
          .array(z.strictObject({ type: z.literal('text'), text: upTo(5_000, utf16) }))
          .min(1)
          .max(5),
        notificationDisabled: z.boolean().optional(),
      }),
      shown: { 'messages.*.text': 'plain' },
      reply: { status: 200, body: { sentMessages: [{ id: '461230966842064897', quoteToken: 'IStG5h1' }] } },
    },
  ],
};
