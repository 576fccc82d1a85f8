/** For specs: Vonage's SMS API. */
import { z } from 'zod';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { partsOf } from '../sms.kit.js';
import { isGsm, utf16 } from '../text-limits.js';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/rest\.nexmo\.com\/sms\/json$/,
      headers: z.looseObject({ authorization: z.string().regex(/^Basic [A-Za-z0-9+/]+=*$/) }),
      json: z
        .strictObject({
          from: z.string().regex(/^([0-9]{5,15}|[A-Za-z0-9 ]{1,11})$/),
          to: z.string().regex(/^[1-9][0-9]{6,14}$/),
          text: upTo(1_600, utf16),
          type: z.enum(['text', 'unicode']),
          'client-ref': z.string().max(40),
        })
        .refine(({ text, type }) => (type === 'text') === isGsm(text), { error: 'the type does not fit the text' })
        .refine(({ text }) => partsOf(text) <= 2, { error: 'more parts than were asked for' }),
      shown: { text: 'plain' },
      reply: {
        status: 200,
        body: { 'message-count': '1', messages: [{ to: '4915112345678', 'message-id': '0A00', status: '0' }] },
      },
    },
  ],
};
