/** Zulip: the settings of an action. */
import { z } from 'zod';
import { secretWord, serverAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const zulipDeclaration = declareChannel({
  type: 'zulip',
  config: z.strictObject({
    serverUrl: serverAddress('The organisation.', 'https://example.zulipchat.com'),
    botEmail: z.email().max(254).describe('Of the bot.'),
    apiKey: secretWord('Of the bot.', 100),
    to: z.string().min(1).max(100).describe('The channel (stream) that the bot writes to.'),
    title: titleTemplate.describe('Template: the topic; the name of the task.'),
    text: textTemplate,
  }),
  sealed: ['serverUrl', 'botEmail', 'apiKey'],
  addresses: ['serverUrl'],
  templates: ['title', 'text'],
});
