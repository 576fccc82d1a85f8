/** Mattermost: the settings of an action. */
import { z } from 'zod';
import {
  atAnyHost,
  plainWord,
  secretAddress,
  secretWord,
  serverAddress,
  textTemplate,
  titleTemplate,
} from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const mattermostDeclaration = declareChannel({
  type: 'mattermost',
  config: z
    .strictObject({
      webhookUrl: secretAddress({
        description: 'An incoming webhook, as Mattermost shows it.',
        example: 'https://chat.example.com/hooks/…',
        isAllowed: atAnyHost(/\/hooks\/[a-z0-9]{20,40}$/),
      }).optional(),
      serverUrl: serverAddress(
        'In place of a webhook, for threads: the server.',
        'https://chat.example.com',
      ).optional(),
      token: secretWord('With `serverUrl`: the token of a bot.').optional(),
      channelId: plainWord(
        'With `serverUrl`: the id of the channel.',
        /^[a-z0-9]{26}$/,
        'must be an id of 26 letters and digits',
      ).optional(),
      title: titleTemplate,
      text: textTemplate,
    })
    .refine(({ webhookUrl, token }) => (webhookUrl === undefined) !== (token === undefined), {
      error: 'must be given, or serverUrl, token and channelId in its place',
      path: ['webhookUrl'],
    })
    .refine(
      ({ serverUrl, token, channelId }) =>
        (serverUrl === undefined) === (token === undefined) && (channelId === undefined) === (token === undefined),
      {
        error: 'must be given together with token and channelId',
        path: ['serverUrl'],
      },
    ),
  sealed: ['webhookUrl', 'serverUrl', 'token'],
  addresses: ['webhookUrl', 'serverUrl'],
  templates: ['title', 'text'],
});
