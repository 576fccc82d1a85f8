/** For specs: the Alert API of Opsgenie and of Jira Service Management. */
import { z } from 'zod';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const headers = z.looseObject({ authorization: z.string().regex(/^GenieKey [-0-9a-f]{36}$/) });
const reply = { status: 202, body: { result: 'Request will be processed', took: 0.1, requestId: '43a29c5c-3dbf' } };
const base = String.raw`^https:\/\/(?:api(?:\.eu)?\.opsgenie\.com|api\.atlassian\.com\/jsm\/ops\/integration)\/v2\/alerts`;

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: new RegExp(`${base}$`),
      headers,
      json: z.strictObject({
        message: upTo(130, characters),
        alias: upTo(512, characters),
        description: upTo(15_000, characters),
        details: z
          .record(z.string(), z.string().min(1))
          .refine((details) => characters(JSON.stringify(details)) <= 8_000, {
            error: 'details are longer than 8,000',
          }),
        entity: upTo(512, characters),
        source: upTo(100, characters),
        priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']),
        tags: z.array(upTo(50, characters)).max(20).optional(),
      }),
      shown: { message: 'plain', description: 'slack', entity: 'plain', 'details.*': 'plain' },
      reply,
    },
    {
      method: 'POST',
      address: new RegExp(`${base}\\/meerkat%2F[^/]+\\/close$`),
      headers,
      query: z.strictObject({ identifierType: z.literal('alias') }),
      json: z.strictObject({ source: upTo(100, characters), note: upTo(25_000, characters) }),
      shown: { note: 'plain' },
      reply,
    },
  ],
};
