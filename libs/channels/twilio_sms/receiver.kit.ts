/** For specs: Twilio's message resource. */
import { z } from 'zod';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { partsOf } from '../sms.kit.js';
import { characters } from '../text-limits.js';

const body = upTo(1_600, characters).refine((text) => partsOf(text) <= 2, { error: 'more parts than were asked for' });

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/api\.twilio\.com\/2010-04-01\/Accounts\/AC[0-9a-f]{32}\/Messages\.json$/,
      headers: z.looseObject({ authorization: z.string().regex(/^Basic [A-Za-z0-9+/]+=*$/) }),
      form: z.union([
        z.strictObject({ To: z.e164(), From: z.string().min(1), Body: body }),
        z.strictObject({ To: z.e164(), MessagingServiceSid: z.string().regex(/^MG[0-9a-f]{32}$/), Body: body }),
      ]),
      shown: { Body: 'plain' },
      reply: { status: 201, body: { sid: 'SM0123456789abcdef0123456789abcdef', status: 'queued', error_code: null } },
    },
  ],
};
