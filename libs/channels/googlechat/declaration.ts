/** Google Chat: the settings of an action. */
import { z } from 'zod';
import { atHosts, secretAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

const isWebhook = atHosts(/^chat\.googleapis\.com$/, /^\/v1\/spaces\/[-_A-Za-z0-9]+\/messages$/);

export const googlechatDeclaration = declareChannel({
  type: 'googlechat',
  config: z.strictObject({
    webhookUrl: secretAddress({
      description: 'A webhook of a space, as Google Chat shows it.',
      example: 'https://chat.googleapis.com/v1/spaces/…/messages?key=…&token=…',
      isAllowed: (url) => isWebhook(url) && url.searchParams.has('key') && url.searchParams.has('token'),
    }),
    threaded: z
      .boolean()
      .optional()
      .describe('Whether later messages of an episode go into the thread of the first; they do.'),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['webhookUrl'],
  addresses: ['webhookUrl'],
  templates: ['title', 'text'],
});
