/** E-mail: the settings of an action. */
import { z } from 'zod';
import { declareChannel } from '../declaration.js';

/** One plain mailbox: no display name, no list, no line break (a comma or CRLF would reach somebody else). */
export const mailAddress = z
  .string()
  .max(254)
  .regex(
    /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
    {
      error: 'must be one e-mail address such as name@example.com',
    },
  );
const mailAddresses = z.union([mailAddress, z.array(mailAddress).min(1).max(50)], {
  error: 'must be an e-mail address or a list of 1 to 50',
});

export const emailDeclaration = declareChannel({
  type: 'email',
  config: z.strictObject({
    to: mailAddresses.describe('Who gets it: an address, or a list of up to 50.'),
    // a line break in a subject would be another header
    subject: z
      .string()
      .min(1)
      .max(500)
      .regex(/^[^\u0000-\u001f\u007f]*$/, { error: 'must be one line of text' })
      .describe('Template: one line.'),
    cc: mailAddresses.optional().describe('Who gets a copy, seen by all.'),
    bcc: mailAddresses.optional().describe('Who gets a copy, seen by nobody.'),
    replyTo: mailAddress.optional().describe('Where answers go.'),
    body: z.string().max(65_536).optional().describe('Template: the text; without it a plain text says what there is.'),
    format: z.enum(['text', 'html']).optional().describe('What the body is.'),
  }),
  sealed: ['to', 'to[]', 'cc', 'cc[]', 'bcc', 'bcc[]', 'replyTo'],
  templates: ['subject', 'body'],
  needs: 'smtp',
});
