/** For specs: a signal-cli REST API: sending a message. */
import { z } from 'zod';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { bytes } from '../text-limits.js';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^http:\/\/signal\.example\.com:8080\/v2\/send$/,
      json: z.strictObject({
        number: z.e164(),
        recipients: z.array(z.string().regex(/^(\+[0-9]+|group\.\S+|u:\S+)$/)).length(1),
        message: upTo(2_000, bytes),
        text_mode: z.literal('normal'),
        base64_attachments: z
          .array(z.string().regex(/^data:image\/png;filename=chart\.png;base64,iVBORw0KGgo/))
          .length(1)
          .optional(),
      }),
      shown: { message: 'plain' },
      reply: { status: 201, body: { timestamp: '1767323045678' } },
    },
  ],
};
