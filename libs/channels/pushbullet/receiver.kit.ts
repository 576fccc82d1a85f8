/** For specs: Pushbullet's pushes. */
import { z } from 'zod';
import { publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const push = {
  title: upTo(250, characters),
  body: upTo(8_000, characters),
  guid: z.string().regex(/^dlv_/),
  device_iden: z.string().optional(),
  channel_tag: z.string().optional(),
};

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/api\.pushbullet\.com\/v2\/pushes$/,
      headers: z.looseObject({ 'access-token': z.string().min(20) }),
      json: z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('note'), ...push }),
        z.strictObject({ type: z.literal('link'), url: publicAddress, ...push }),
      ]),
      shown: { title: 'plain', body: 'plain' },
      reply: { status: 200, body: { iden: 'ujpah72o0sjAoRtnM0jc', active: true } },
    },
  ],
};
