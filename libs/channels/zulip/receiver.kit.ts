/** For specs: a Zulip server: sending a message. */
import { z } from 'zod';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/example\.zulipchat\.com\/api\/v1\/messages$/,
      headers: z.looseObject({ authorization: z.string().regex(/^Basic /) }),
      form: z.strictObject({
        type: z.enum(['stream', 'channel']),
        to: z.string().min(1),
        topic: upTo(60, characters),
        content: upTo(10_000, characters),
      }),
      shown: { topic: 'plain', content: 'fence' },
      reply: { status: 200, body: { result: 'success', msg: '', id: 42 } },
    },
  ],
};
