/** Slack: the settings of an action. */
import { z } from 'zod';
import { atHosts, plainWord, secretAddress, secretWord, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

const mention = plainWord(
  'Who is mentioned: an id of a person (`U…`, `W…`) or a group (`S…`), or `here`, `channel`.',
  /^(?:[UWS][A-Z0-9]{6,20}|here|channel)$/,
  'must be an id such as U0123456789 or S0123456789, or here or channel',
);

export const slackDeclaration = declareChannel({
  type: 'slack',
  config: z
    .strictObject({
      webhookUrl: secretAddress({
        description: 'An incoming webhook of an app, as Slack shows it.',
        example: 'https://hooks.slack.com/services/T…/B…/…',
        isAllowed: atHosts(/^hooks\.slack(?:-gov)?\.com$/, /^\/services\/T[A-Z0-9]+\/B[A-Z0-9]+\/[A-Za-z0-9]+$/),
      }).optional(),
      botToken: secretWord(
        'In place of a webhook: the token of a bot (`xoxb-…`), with the scope chat:write, and files:write for the chart.',
      ).optional(),
      channelId: plainWord(
        'With `botToken`: the id of the channel, which the bot has joined.',
        /^[CGD][A-Z0-9]{6,20}$/,
        'must be the id of a channel such as C0123456789',
      ).optional(),
      title: titleTemplate,
      text: textTemplate,
      mentions: z.array(mention).max(20).optional().describe('Mentioned under the text, but in what is over.'),
    })
    .refine(({ webhookUrl, botToken }) => (webhookUrl === undefined) !== (botToken === undefined), {
      error: 'must be given, or botToken in its place',
      path: ['webhookUrl'],
    })
    .refine(({ channelId, botToken }) => (channelId === undefined) === (botToken === undefined), {
      error: 'must be given with botToken, and without it left out',
      path: ['channelId'],
    }),
  sealed: ['webhookUrl', 'botToken'],
  addresses: ['webhookUrl'],
  templates: ['title', 'text'],
});
