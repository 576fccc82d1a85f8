/** For specs: a Matrix homeserver: sending an event to a room. */
import { z } from 'zod';
import { bearer, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const id = z.string().regex(/^\$[-_A-Za-z0-9]+$/);

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'PUT',
      address:
        /^https:\/\/matrix\.example\.org(\/sub)?\/_matrix\/client\/v3\/rooms\/(%21|!)[A-Za-z]+%3Aexample\.org\/send\/m\.room\.message\/dlv_[a-z0-9]+$/,
      headers: bearer(/\S+/),
      query: z.strictObject({}),
      json: z.strictObject({
        msgtype: z.enum(['m.text', 'm.notice']),
        body: upTo(65_000, characters),
        format: z.literal('org.matrix.custom.html'),
        formatted_body: z.string().regex(/^<strong>[^<>]+<\/strong><br>(?:[^<>]|<br>)*$/),
        'm.mentions': z.strictObject({}),
        'm.relates_to': z
          .strictObject({
            rel_type: z.literal('m.thread'),
            event_id: id,
            is_falling_back: z.literal(true),
            'm.in_reply_to': z.strictObject({ event_id: id }),
          })
          .optional(),
      }),
      faults: ({ body }) => [
        ...(Buffer.byteLength(body ?? '') > 64_000 ? ['M_TOO_LARGE'] : []),
        ...(/&(?!(?:amp|lt|gt|quot|#39);)/.test((JSON.parse(body ?? '{}') as { formatted_body: string }).formatted_body)
          ? ['half an entity']
          : []),
      ],
      shown: { body: 'plain' },
      reply: { status: 200, body: { event_id: '$aBcDeFgHiJkLmNoPqRsTuVwXyZ' } },
    },
    {
      method: 'POST',
      address: /^https:\/\/matrix\.example\.org(\/sub)?\/_matrix\/media\/v3\/upload$/,
      headers: bearer(/\S+/),
      query: z.strictObject({ filename: z.literal('chart.png') }),
      isPicture: true,
      reply: { status: 200, body: { content_uri: 'mxc://example.org/aBcDeF' } },
    },
    {
      method: 'PUT',
      address:
        /^https:\/\/matrix\.example\.org(\/sub)?\/_matrix\/client\/v3\/rooms\/(%21|!)[A-Za-z]+%3Aexample\.org\/send\/m\.room\.message\/dlv_[a-z0-9]+-chart$/,
      headers: bearer(/\S+/),
      json: z.strictObject({
        msgtype: z.literal('m.image'),
        body: z.literal('chart.png'),
        url: z.literal('mxc://example.org/aBcDeF'),
        info: z.strictObject({ mimetype: z.literal('image/png'), size: z.int().min(1) }),
        'm.mentions': z.strictObject({}),
        'm.relates_to': z.looseObject({ rel_type: z.literal('m.thread'), event_id: id }).optional(),
      }),
      reply: { status: 200, body: { event_id: '$aBcDeFgHiJkLmNoPqRsTuVwXyW' } },
    },
  ],
};
