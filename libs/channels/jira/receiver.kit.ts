/** For specs: Jira, in the cloud and as a data center: issues, comments, transitions and the search. */
import { z } from 'zod';
import { upTo, type Operation, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const text = z.strictObject({
  type: z.literal('text'),
  text: z.string().min(1),
  marks: z.array(z.strictObject({ type: z.literal('link'), attrs: z.strictObject({ href: z.url() }) })).optional(),
});
const tree = z
  .strictObject({
    version: z.literal(1),
    type: z.literal('doc'),
    content: z
      .array(z.strictObject({ type: z.enum(['paragraph', 'codeBlock']), content: z.array(text).min(1) }))
      .min(1),
  })
  .refine((doc) => characters(JSON.stringify(doc)) <= 32_767 * 2, { error: 'CONTENT_LIMIT_EXCEEDED' });
const markup = upTo(32_767, characters).refine((value) => (value.match(/\{noformat\}/g) ?? []).length === 2, {
  error: 'the block is open',
});

function operationsAt(base: string, search: string, description: z.ZodType, headers: z.ZodType): Operation[] {
  const place = (path: string): RegExp => new RegExp(`^${base}${path}$`);
  const fields = z.strictObject({
    project: z.strictObject({ key: z.string() }),
    issuetype: z.strictObject({ name: z.string() }),
    summary: upTo(255, characters).regex(/^[^\r\n]*$/),
    description,
    labels: z.array(z.string().regex(/^\S+$/)).min(1),
  });
  return [
    {
      method: 'POST',
      address: place('/issue'),
      headers,
      json: z.strictObject({ fields }),
      shown: {
        'fields.summary': 'plain',
        'fields.description.content.*.content.*.text': 'plain',
        'fields.description': 'plain',
      },
      reply: { status: 201, body: { id: '10000', key: 'OPS-24', self: 'https://example.atlassian.net/x' } },
    },
    {
      method: 'POST',
      address: place(search),
      headers,
      json: z.strictObject({
        jql: z.string().regex(/^project = "OPS" AND labels = "meerkat-[0-9a-f]+"$/),
        maxResults: z.literal(1),
        fields: z.array(z.string()),
      }),
      reply: { status: 200, body: { issues: [{ id: '10000', key: 'OPS-24' }] } },
    },
    {
      method: 'POST',
      address: place('/issue/OPS-24/comment'),
      headers,
      json: z.strictObject({ body: description }),
      shown: { 'body.content.*.content.*.text': 'plain', body: 'plain' },
      reply: { status: 201, body: { id: '10001' } },
    },
    {
      method: 'GET',
      address: place('/issue/OPS-24'),
      headers,
      reply: {
        status: 200,
        body: {
          key: 'OPS-24',
          fields: { status: { statusCategory: { key: 'new' } } },
          transitions: [
            { id: '11', name: 'Start', to: { statusCategory: { key: 'indeterminate' } } },
            { id: '31', name: 'Done', to: { statusCategory: { key: 'done' } } },
          ],
        },
      },
    },
    {
      method: 'POST',
      address: place('/issue/OPS-24/transitions'),
      headers,
      json: z.strictObject({ transition: z.strictObject({ id: z.literal('31') }) }),
      reply: { status: 204, body: '' },
    },
  ];
}

export const receiver: VendorReceiver = {
  operations: [
    ...operationsAt(
      String.raw`https:\/\/example\.atlassian\.net\/rest\/api\/3`,
      '/search/jql',
      tree,
      z.looseObject({ authorization: z.string().regex(/^Basic /), accept: z.literal('application/json') }),
    ),
    ...operationsAt(
      String.raw`https:\/\/jira\.example\.com\/jira\/rest\/api\/2`,
      '/search',
      markup,
      z.looseObject({ authorization: z.string().regex(/^Bearer /), accept: z.literal('application/json') }),
    ),
  ],
};
