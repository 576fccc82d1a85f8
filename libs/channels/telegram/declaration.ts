/** Telegram: the settings of an action. */
import { z } from 'zod';
import { plainWord, serverAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const telegramDeclaration = declareChannel({
  type: 'telegram',
  config: z.strictObject({
    botToken: z
      .string()
      .max(200)
      .regex(/^(?:[0-9]{6,15}:[-_A-Za-z0-9]{30,60}|\*{8})$/, {
        error: 'must be a token such as 1234567890:AA…, as @BotFather shows it',
      })
      .meta({ writeOnly: true, description: 'Of the bot, as @BotFather shows it.' }),
    chatId: plainWord(
      'The chat that the bot is in: its id, or the name of a public channel.',
      /^(?:-?[0-9]{1,16}|@[A-Za-z][A-Za-z0-9_]{4,31})$/,
      'must be an id such as -1001234567890, or the name of a channel such as @prices',
    ),
    threadId: z.int().min(1).max(2_147_483_647).optional().describe('A topic of a forum.'),
    serverUrl: serverAddress(
      'A Bot API server of your own; https://api.telegram.org where it is left out.',
      'https://bots.example.com',
    ).optional(),
    silent: z.boolean().optional().describe('Whether it arrives without a sound.'),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['botToken', 'chatId', 'serverUrl'],
  addresses: ['serverUrl'],
  templates: ['title', 'text'],
});
