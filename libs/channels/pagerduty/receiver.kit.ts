/** For specs: PagerDuty's Events API v2. */
import { z } from 'zod';
import { publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const event = {
  routing_key: z.string().regex(/^[0-9a-zA-Z]{32}$/),
  dedup_key: upTo(255, characters),
};

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/events(\.eu)?\.pagerduty\.com\/v2\/enqueue$/,
      json: z.discriminatedUnion('event_action', [
        z.strictObject({
          ...event,
          event_action: z.literal('trigger'),
          client: z.string(),
          client_url: publicAddress.optional(),
          links: z.array(z.strictObject({ href: publicAddress, text: z.string() })).optional(),
          payload: z.strictObject({
            summary: upTo(1_024, characters),
            source: z.string().min(1),
            severity: z.enum(['critical', 'error', 'warning', 'info']),
            timestamp: z.iso.datetime(),
            custom_details: z.strictObject({ text: z.string() }),
          }),
        }),
        z.strictObject({ ...event, event_action: z.literal('resolve') }),
      ]),
      faults: ({ body }) => (Buffer.byteLength(body ?? '') > 524_288 ? ['the event is longer than 512 KB'] : []),
      shown: { 'payload.summary': 'plain', 'payload.custom_details.text': 'plain', 'payload.source': 'plain' },
      reply: { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: 'x' } },
    },
  ],
};
