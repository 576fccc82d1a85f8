/** LINE: the settings of an action. */
import { z } from 'zod';
import { plainWord, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const lineDeclaration = declareChannel({
  type: 'line',
  config: z.strictObject({
    channelToken: z
      .string()
      .max(500)
      // A token of LINE Notify has 43 characters; those of the Messaging API are longer.
      .refine((token) => !/^[A-Za-z0-9]{43}$/.test(token), {
        error:
          'is a token of LINE Notify, which ended on 2025-03-31: make a channel of the Messaging API and give its token',
      })
      .regex(/^(?:[A-Za-z0-9+/=._-]{60,500}|\*{8})$/, {
        error: 'must be the access token of a channel of the Messaging API',
      })
      .meta({ writeOnly: true, description: 'Of a channel of the Messaging API.' }),
    to: plainWord(
      'The id of a person, a group or a room.',
      /^[UCR][0-9a-f]{32}$/,
      'must be an id such as U and 32 hexadecimal digits',
    ),
    silent: z.boolean().optional().describe('Whether it arrives without a sound.'),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['channelToken', 'to'],
  templates: ['title', 'text'],
});
