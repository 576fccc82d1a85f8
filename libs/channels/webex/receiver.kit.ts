/** For specs: Webex's message API. */
import { z } from 'zod';
import { bearer, pngText, upTo, type VendorReceiver } from '../receiver.kit.js';
import { bytes } from '../text-limits.js';

const message = {
  roomId: z.string().min(10).optional(),
  toPersonEmail: z.email().optional(),
  text: upTo(7_439, bytes),
  parentId: z.string().min(10).optional(),
};
type Message = z.output<z.ZodObject<typeof message>>;
const oneReceiver = [
  ({ roomId, toPersonEmail }: Message): boolean => (roomId === undefined) !== (toPersonEmail === undefined),
] as const;

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/webexapis\.com\/v1\/messages$/,
      headers: bearer(/\S{20,}/),
      json: z.strictObject(message).refine(...oneReceiver),
      shown: { text: 'plain' },
      reply: { status: 200, body: { id: 'Y2lzY29zcGFyazovL3VzL01FU1NBR0UvOTJkYjNiZTA' } },
    },
    {
      method: 'POST',
      address: /^https:\/\/webexapis\.com\/v1\/messages$/,
      headers: bearer(/\S{20,}/),
      parts: z.strictObject({ ...message, files: pngText }).refine(...oneReceiver),
      shown: { text: 'plain' },
      reply: { status: 200, body: { id: 'Y2lzY29zcGFyazovL3VzL01FU1NBR0UvOTJkYjNiZTE' } },
    },
  ],
};
