/** For specs: a Zulip server: sending a message. */
import { z } from 'zod';
import { pngText, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const picture = '[chart.png](/user_uploads/2/ce/DfOkzwdg_IwlrN3myw3KGtiJ/chart.png)';
const authorized = z.looseObject({ authorization: z.string().regex(/^Basic /) });

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/example\.zulipchat\.com\/api\/v1\/messages$/,
      headers: authorized,
      form: z.strictObject({
        type: z.enum(['stream', 'channel']),
        to: z.string().min(1),
        topic: upTo(60, characters),
        content: upTo(10_000, characters),
      }),
      shown: { topic: 'plain', content: 'fence' },
      reply: { status: 200, body: { result: 'success', msg: '', id: 42 } },
    },
    {
      method: 'POST',
      address: /^https:\/\/example\.zulipchat\.com\/api\/v1\/user_uploads$/,
      headers: authorized,
      parts: z.strictObject({ filename: pngText }),
      reply: {
        status: 200,
        body: { result: 'success', msg: '', url: picture.slice('[chart.png]('.length, -1), filename: 'chart.png' },
      },
    },
  ],
};
