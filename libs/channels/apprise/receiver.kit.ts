/** For specs: an Apprise API server. */
import { z } from 'zod';
import { pngText, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const message = {
  title: upTo(250, characters),
  body: upTo(32_768, characters),
  type: z.enum(['info', 'success', 'warning', 'failure']),
  format: z.literal('text'),
  attachment: z.tuple([z.strictObject({ filename: z.literal('chart.png'), base64: pngText })]).optional(),
};
const shown = { title: 'plain', body: 'plain' } as const;
const reply = { status: 200, body: { error: null, details: [] } };

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/apprise\.example\.com\/sub\/notify\/$/,
      json: z.strictObject({ ...message, urls: z.array(z.string().regex(/^[a-z][a-z0-9]*:\/\//)).min(1) }),
      shown,
      reply,
    },
    {
      method: 'POST',
      address: /^https:\/\/apprise\.example\.com\/sub\/notify\/[-_A-Za-z0-9]{1,128}$/,
      json: z.strictObject({ ...message, tag: z.string().optional() }),
      shown,
      reply,
    },
  ],
};
