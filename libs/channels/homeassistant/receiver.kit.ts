/** For specs: Home Assistant's REST API: services and webhooks. */
import { z } from 'zod';
import { bearer, publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { bytes, characters } from '../text-limits.js';

const title = upTo(200, characters);
const message = upTo(2_000, bytes);

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/home\.example\.com:8123\/api\/services\/persistent_notification\/create$/,
      headers: bearer(/\S+/),
      json: z.strictObject({ title, message, notification_id: z.string().regex(/^[a-z0-9-]+$/) }),
      shown: { title: 'plain', message: 'commonMark' },
      reply: { status: 200, body: '[]' },
    },
    {
      method: 'POST',
      address: /^https:\/\/home\.example\.com:8123\/api\/services\/notify\/[a-z0-9_]+$/,
      headers: bearer(/\S+/),
      json: z.strictObject({
        title,
        message,
        data: z.strictObject({
          tag: z.string().min(1),
          url: publicAddress.optional(),
          clickAction: publicAddress.optional(),
        }),
      }),
      faults: ({ body }) => (Buffer.byteLength(body ?? '') > 5_000 ? ['longer than a push holds'] : []),
      shown: { title: 'plain', message: 'plain' },
      reply: { status: 200, body: '[{"entity_id":"notify.phone"}]' },
    },
    {
      method: 'POST',
      address: /^https:\/\/home\.example\.com:8123\/api\/webhook\/[A-Za-z0-9-]+$/,
      json: z.strictObject({
        kind: z.string(),
        episode: z.string(),
        title,
        message,
        page: z.string(),
        details: z.string(),
      }),
      shown: { title: 'plain', message: 'plain' },
      reply: { status: 200, body: '' },
    },
  ],
};
