/** For specs: HTTP alert sources of incident.io. */
import { z } from 'zod';
import { bearer, publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/api\.incident\.io\/v2\/alert_events\/http\/[0-9A-Z]{26}$/,
      headers: bearer(/\S+/),
      json: z.strictObject({
        title: upTo(250, characters),
        description: upTo(16_000, characters),
        status: z.enum(['firing', 'resolved']),
        deduplication_key: upTo(255, characters),
        source_url: publicAddress.optional(),
        metadata: z.record(z.string(), z.string().min(1)),
      }),
      faults: ({ body }) => (Buffer.byteLength(body ?? '') > 524_288 ? ['the event is longer than 512 KB'] : []),
      shown: { title: 'plain', description: 'commonMark', 'metadata.page': 'plain' },
      reply: {
        status: 202,
        body: { status: 'success', message: 'Event accepted for processing', deduplication_key: 'x' },
      },
    },
  ],
};
