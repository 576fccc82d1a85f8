/** For specs: GitHub's API: issues, comments and the search. */
import { z } from 'zod';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const headers = z.looseObject({
  authorization: z.string().regex(/^Bearer \S+$/),
  accept: z.literal('application/vnd.github+json'),
  'x-github-api-version': z.literal('2022-11-28'),
  'user-agent': z.string().min(1),
});
const body = upTo(65_536, characters).regex(/<!-- meerkat-[0-9a-f]+ -->$/);
const issues = String.raw`^https:\/\/(?:api\.github\.com|github\.example\.com\/api\/v3)\/repos\/octo-org\/shop\.watch\/issues`;

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: new RegExp(`${issues}$`),
      headers,
      json: z.strictObject({
        title: upTo(256, characters),
        body,
        labels: z.array(z.string()).optional(),
        assignees: z.array(z.string()).optional(),
      }),
      shown: { title: 'plain', body: 'fence' },
      reply: { status: 201, body: { number: 1347, state: 'open' } },
    },
    {
      method: 'GET',
      address: /^https:\/\/(?:api\.github\.com|github\.example\.com\/api\/v3)\/search\/issues$/,
      headers,
      query: z.strictObject({
        q: z.string().regex(/^"meerkat-[0-9a-f]+" repo:octo-org\/shop\.watch is:issue in:body$/),
        per_page: z.literal('1'),
      }),
      reply: { status: 200, body: { total_count: 1, items: [{ number: 1347 }] } },
    },
    {
      method: 'POST',
      address: new RegExp(`${issues}\\/1347\\/comments$`),
      headers,
      json: z.strictObject({ body }),
      shown: { body: 'fence' },
      reply: { status: 201, body: { id: 1 } },
    },
    {
      method: 'PATCH',
      address: new RegExp(`${issues}\\/1347$`),
      headers,
      json: z.strictObject({ state: z.literal('closed'), state_reason: z.literal('completed') }),
      reply: { status: 200, body: { number: 1347, state: 'closed' } },
    },
  ],
};
