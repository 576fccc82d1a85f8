/** SMS by Twilio: the settings of an action. */
import { z } from 'zod';
import { phoneNumber, plainWord, secretWord } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

const receivers = z.union([phoneNumber, z.array(phoneNumber).min(1).max(20)]);

export const twilioSmsDeclaration = declareChannel({
  type: 'twilio_sms',
  config: z
    .strictObject({
      accountSid: plainWord('Of the account.', /^AC[0-9a-f]{32}$/, 'must be AC and 32 hexadecimal digits'),
      authToken: secretWord('Of the account, or the secret of `apiKeySid`.', 100),
      apiKeySid: plainWord(
        'Of an API key, in place of the account itself.',
        /^SK[0-9a-f]{32}$/,
        'must be SK and 32 hexadecimal digits',
      ).optional(),
      from: plainWord(
        'A number of the account, or the name of the sender.',
        /^(?:\+[1-9][0-9]{4,14}|[A-Za-z0-9 ]{1,11})$/,
        'must be a number such as +15005550006, or a name of up to 11 letters',
      ).optional(),
      messagingServiceSid: plainWord(
        'In place of `from`.',
        /^MG[0-9a-f]{32}$/,
        'must be MG and 32 hexadecimal digits',
      ).optional(),
      to: receivers.describe('A number such as +4915112345678, or up to 20.'),
      text: z
        .string()
        .min(1)
        .max(5_000)
        .optional()
        .describe('Template: the text; the message and a link where it is left out.'),
      parts: z
        .int()
        .min(1)
        .max(10)
        .optional()
        .describe('A text is cut to so many parts, each of which is paid for; 2.'),
    })
    .refine(({ from, messagingServiceSid }) => (from === undefined) !== (messagingServiceSid === undefined), {
      error: 'must be given, or messagingServiceSid in its place',
      path: ['from'],
    }),
  sealed: ['authToken', 'to', 'to[]'],
  templates: ['text'],
});
