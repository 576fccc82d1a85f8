/** SMS by Vonage: the settings of an action. */
import { z } from 'zod';
import { phoneNumber, plainWord, secretWord } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const vonageSmsDeclaration = declareChannel({
  type: 'vonage_sms',
  config: z.strictObject({
    apiKey: plainWord('Of the account.', /^[A-Za-z0-9]{4,32}$/, 'must be the key of the account'),
    apiSecret: secretWord('Of the account.', 100),
    from: plainWord(
      'A number without its +, or the name of the sender.',
      /^(?:[1-9][0-9]{4,14}|[A-Za-z][A-Za-z0-9 ]{0,10})$/,
      'must be a number such as 15005550006, or a name of up to 11 letters',
    ),
    to: z
      .union([phoneNumber, z.array(phoneNumber).min(1).max(20)])
      .describe('A number such as +4915112345678, or up to 20.'),
    text: z
      .string()
      .min(1)
      .max(5_000)
      .optional()
      .describe('Template: the text; the message and a link where it is left out.'),
    parts: z.int().min(1).max(10).optional().describe('A text is cut to so many parts, each of which is paid for; 2.'),
  }),
  sealed: ['apiSecret', 'to', 'to[]'],
  templates: ['text'],
});
