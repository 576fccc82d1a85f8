/** For specs: a Rocket.Chat server: integrations and chat.postMessage. */
import { z } from 'zod';
import { publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const message = {
  text: upTo(5_000, characters),
  attachments: z
    .array(
      z.strictObject({
        title: upTo(1_024, characters),
        title_link: publicAddress.optional(),
        text: upTo(5_000, characters),
        color: z.string().regex(/^#[0-9a-f]{6}$/),
        collapsed: z.literal(false),
      }),
    )
    .length(1),
};
const shown = { text: 'plain', 'attachments.*.title': 'plainWithMentions', 'attachments.*.text': 'fence' } as const;

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/rocket\.example\.com\/hooks\/[A-Za-z0-9]+\/[A-Za-z0-9]+$/,
      json: z.strictObject(message),
      shown,
      reply: { status: 200, body: { success: true } },
    },
    {
      method: 'POST',
      address: /^https:\/\/rocket\.example\.com\/api\/v1\/chat\.postMessage$/,
      headers: z.looseObject({ 'x-auth-token': z.string().min(20), 'x-user-id': z.string().min(10) }),
      json: z.strictObject({
        ...message,
        roomId: z.string().min(1),
        tmid: z.string().min(1).optional(),
        tshow: z.boolean().optional(),
      }),
      shown,
      reply: { status: 200, body: { success: true, message: { _id: 'b4fG6hJ8kL0mN2pQ4' } } },
    },
  ],
};
