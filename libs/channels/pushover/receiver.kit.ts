/** For specs: Pushover's message API. */
import { z } from 'zod';
import { pngText, publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const token = z.string().regex(/^[A-Za-z0-9]{30}$/);

const message = {
  token,
  user: token,
  title: upTo(250, characters),
  message: upTo(1_024, characters),
  timestamp: z.string().regex(/^[0-9]{10}$/),
  device: z.string().min(1).max(25).optional(),
  sound: z.string().min(1).optional(),
  url: publicAddress.max(512).optional(),
  url_title: z.string().max(100).optional(),
  priority: z.enum(['-2', '-1', '0', '1', '2']).optional(),
  retry: z.string().optional(),
  expire: z.string().optional(),
  tags: z
    .string()
    .regex(/^[a-z0-9-]+(?:,[a-z0-9-]+)*$/)
    .optional(),
};
type Message = z.output<z.ZodObject<typeof message>>;
const repeats = [
  ({ priority, retry, expire }: Message): boolean =>
    priority !== '2' || (Number(retry) >= 30 && Number(expire) > 0 && Number(expire) <= 10_800),
  { error: 'retry and expire are required' },
] as const;

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/api\.pushover\.net\/1\/messages\.json$/,
      form: z.strictObject(message).refine(...repeats),
      shown: { title: 'plain', message: 'plain' },
      reply: { status: 200, body: { status: 1, request: '647d2300-702c-4b38-8b2f-d56326ae460b' } },
    },
    {
      method: 'POST',
      address: /^https:\/\/api\.pushover\.net\/1\/messages\.json$/,
      parts: z.strictObject({ ...message, attachment: pngText }).refine(...repeats),
      shown: { title: 'plain', message: 'plain' },
      reply: { status: 200, body: { status: 1, request: '647d2300-702c-4b38-8b2f-d56326ae460c' } },
    },
    {
      method: 'POST',
      address: /^https:\/\/api\.pushover\.net\/1\/receipts\/cancel_by_tag\/[a-z0-9-]+\.json$/,
      form: z.strictObject({ token }),
      reply: { status: 200, body: { status: 1, canceled: 1, request: '5f0c2300-702c-4b38-8b2f-d56326ae460b' } },
    },
  ],
};
