/** Webex: the settings of an action. */
import { z } from 'zod';
import { plainWord, secretWord, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const webexDeclaration = declareChannel({
  type: 'webex',
  config: z
    .strictObject({
      botToken: secretWord('Of the bot.'),
      roomId: plainWord(
        'The space that the bot is in.',
        /^[A-Za-z0-9_=-]{10,200}$/,
        'must be the id of a space',
      ).optional(),
      toPersonEmail: z.email().max(254).optional().describe('In place of a space: a person.'),
      title: titleTemplate,
      text: textTemplate,
    })
    .refine(({ roomId, toPersonEmail }) => (roomId === undefined) !== (toPersonEmail === undefined), {
      error: 'must be given, or toPersonEmail in its place',
      path: ['roomId'],
    }),
  sealed: ['botToken', 'roomId', 'toPersonEmail'],
  templates: ['title', 'text'],
});
