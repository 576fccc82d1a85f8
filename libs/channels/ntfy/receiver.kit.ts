/** For specs: a server of ntfy: publishing as JSON. */
import { z } from 'zod';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { bytes, characters } from '../text-limits.js';

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
  ],
};
