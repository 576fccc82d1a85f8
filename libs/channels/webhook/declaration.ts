/** Webhook: the settings of an action. */
import { z } from 'zod';
import { separatorFault } from '#runtime/address-credentials';
import { httpHeaders } from '#runtime/http-headers';
import { declareChannel } from '../declaration.js';

/** A user name and password inside are allowed; the password is a secret. Behind the host it is a template. */
const webhookAddress = z
  .string()
  .min(1)
  .max(2_048)
  .refine((value) => URL.canParse(value) && /^https?:\/\//i.test(value), {
    error: ({ input }) =>
      separatorFault(String(input), 'page') ?? 'must be an absolute address such as https://example.com/hook',
  });

/** `whsec_` and base64 of 24 to 64 bytes. */
const signingSecret = z
  .string()
  .regex(/^(whsec_[A-Za-z0-9+/]{32,88}={0,2}|\*{8})$/, { error: 'must be whsec_ and the base64 of 24 to 64 bytes' })
  .meta({ writeOnly: true })
  .optional();

export const webhookDeclaration = declareChannel({
  type: 'webhook',
  config: z.strictObject({
    url: webhookAddress.describe('Where to; behind the host it is a template.'),
    method: z.enum(['POST', 'PUT', 'PATCH']).optional().describe('POST where it is left out.'),
    headers: httpHeaders.optional().describe('Their values are templates.'),
    /** A template; without it the Standard Webhooks body is sent. */
    body: z.string().max(65_536).optional().describe('Template; without it the body of Standard Webhooks.'),
    /** Made where absent. */
    secret: signingSecret.describe('Signs; made where it is left out.'),
    /** Signs beside `secret` until then, for a receiver that does not know the new one yet. */
    previousSecret: signingSecret.describe('Signs as well until `previousSecretUntil`.'),
    previousSecretUntil: z.iso.datetime({ offset: true }).optional().describe('Set when a secret is rotated.'),
    timeoutSeconds: z.int().min(1).max(60).optional().describe('For the whole exchange; 10 where it is left out.'),
  }),
  sealed: ['url', 'secret', 'previousSecret', 'headers.*'],
  addresses: ['url'],
  templates: ['url', 'headers', 'body'],
  generated: [
    { name: 'secret', prefix: 'whsec_', bytes: 24, previous: { name: 'previousSecret', until: 'previousSecretUntil' } },
  ],
});
