/** For specs: Webex's message API. */
import { z } from 'zod';
import { bearer, upTo, type VendorReceiver } from '../receiver.kit.js';
import { bytes } from '../text-limits.js';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/webexapis\.com\/v1\/messages$/,
      headers: bearer(/\S{20,}/),
      json: z
        .strictObject({
          roomId: z.string().min(10).optional(),
          toPersonEmail: z.email().optional(),
          text: upTo(7_439, bytes),
          parentId: z.string().min(10).optional(),
        })
        .refine(({ roomId, toPersonEmail }) => (roomId === undefined) !== (toPersonEmail === undefined)),
      shown: { text: 'plain' },
      reply: { status: 200, body: { id: 'Y2lzY29zcGFyazovL3VzL01FU1NBR0UvOTJkYjNiZTA' } },
    },
  ],
};
