/** Feishu and Lark: the settings of an action. */
import { z } from 'zod';
import { atHosts, secretAddress, secretWord, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const feishuDeclaration = declareChannel({
  type: 'feishu',
  config: z.strictObject({
    webhookUrl: secretAddress({
      description: 'Of a custom bot of a group, as Feishu or Lark shows it.',
      example: 'https://open.feishu.cn/open-apis/bot/v2/hook/…',
      isAllowed: atHosts(/^open\.(?:feishu\.cn|larksuite\.com)$/, /^\/open-apis\/bot\/v2\/hook\/[-A-Za-z0-9]+$/),
    }),
    signingSecret: secretWord('Where the bot demands a signature.', 200).optional(),
    keyword: z.string().min(1).max(50).optional().describe('Where the bot demands a keyword: it is in every message.'),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['webhookUrl', 'signingSecret'],
  addresses: ['webhookUrl'],
  templates: ['title', 'text'],
});
