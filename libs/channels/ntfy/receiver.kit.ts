/** For specs: a server of ntfy: publishing as JSON. */
import { z } from 'zod';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { bytes, characters } from '../text-limits.js';

/** A header as RFC 2047 has it, and what it says. */
const word = (schema: z.ZodType<string, string>): z.ZodType =>
  z
    .string()
    .regex(/^=\?UTF-8\?B\?[A-Za-z0-9+/=]*\?=$/)
    .transform((text) => Buffer.from(text.slice('=?UTF-8?B?'.length, -2), 'base64').toString())
    .pipe(schema);

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/(?:ntfy\.sh|push\.example(?:\/ntfy)?)\/$/,
      json: z.strictObject({
        topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
        title: upTo(250, characters),
        message: upTo(4_096, bytes),
        priority: z.int().min(1).max(5).optional(),
        tags: z.array(z.string().min(1)).optional(),
        click: z.url().optional(),
        sequence_id: z.string().min(1),
      }),
      faults: ({ body }) => (Buffer.byteLength(body ?? '') > 32_768 ? ['41303 the body is too large'] : []),
      shown: { title: 'plain', message: 'plain' },
      reply: { status: 200, body: { id: 'xE73Iyuabi', time: 1, event: 'message' } },
    },
    {
      method: 'PUT',
      address: /^https:\/\/(?:ntfy\.sh|push\.example(?:\/ntfy)?)\/[-_A-Za-z0-9]{1,64}$/,
      headers: z.looseObject({
        filename: z.literal('chart.png'),
        title: word(upTo(250, characters)),
        message: word(upTo(2 * 4_096, bytes)),
        priority: z
          .string()
          .regex(/^[1-5]$/)
          .optional(),
        tags: word(z.string()).optional(),
        click: word(z.url()).optional(),
        'x-sequence-id': z.string().min(1),
      }),
      isPicture: true,
      reply: { status: 200, body: { id: 'xE73Iyuabj', time: 1, event: 'message' } },
    },
  ],
};
