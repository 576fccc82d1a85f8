/** DingTalk: the settings of an action. */
import { z } from 'zod';
import { atHosts, secretAddress, secretWord, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

const isRobot = atHosts(/^oapi\.dingtalk\.com$/, /^\/robot\/send$/);

export const dingtalkDeclaration = declareChannel({
  type: 'dingtalk',
  config: z.strictObject({
    webhookUrl: secretAddress({
      description: 'Of a custom robot of a group, as DingTalk shows it.',
      example: 'https://oapi.dingtalk.com/robot/send?access_token=…',
      isAllowed: (url) => isRobot(url) && url.searchParams.has('access_token'),
    }),
    signingSecret: secretWord('Where the robot demands a signature (`SEC…`).', 200).optional(),
    keyword: z
      .string()
      .min(1)
      .max(50)
      .optional()
      .describe('Where the robot demands a keyword: it is in every message.'),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['webhookUrl', 'signingSecret'],
  addresses: ['webhookUrl'],
  templates: ['title', 'text'],
});
