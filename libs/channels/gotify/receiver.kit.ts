/** For specs: a Gotify server: a message of an application. */
import { z } from 'zod';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/push\.example\.com\/gotify\/message$/,
      headers: z.looseObject({ 'x-gotify-key': z.string().min(15) }),
      query: z.strictObject({}),
      json: z.strictObject({
        title: upTo(250, characters),
        message: upTo(16_000, characters),
        priority: z.int().min(0).max(10),
        extras: z.strictObject({
          'client::display': z.strictObject({ contentType: z.literal('text/plain') }),
          'client::notification': z.strictObject({ click: z.strictObject({ url: z.url() }) }).optional(),
        }),
      }),
      shown: { title: 'plain', message: 'plain' },
      reply: { status: 200, body: { id: 25, appid: 5, message: 'x', date: '2026-01-02T03:04:05Z' } },
    },
  ],
};
