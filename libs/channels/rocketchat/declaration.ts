/** Rocket.Chat: the settings of an action. */
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

export const rocketchatDeclaration = declareChannel({
  type: 'rocketchat',
  config: z
    .strictObject({
      webhookUrl: secretAddress({
        description: 'An incoming integration, as Rocket.Chat shows it.',
        example: 'https://chat.example.com/hooks/…/…',
        isAllowed: atAnyHost(/\/hooks\/[A-Za-z0-9]+\/[A-Za-z0-9]{10,}$/),
      }).optional(),
      serverUrl: serverAddress(
        'In place of a webhook, for threads: the server.',
        'https://chat.example.com',
      ).optional(),
      token: secretWord('With `serverUrl`: a personal access token.').optional(),
      userId: secretWord('With `serverUrl`: the id of the user of the token.', 100).optional(),
      channelId: plainWord(
        'With `serverUrl`: the id of the room.',
        /^[A-Za-z0-9]{1,64}$/,
        'must be the id of a room',
      ).optional(),
      title: titleTemplate,
      text: textTemplate,
    })
    .refine(({ webhookUrl, token }) => (webhookUrl === undefined) !== (token === undefined), {
      error: 'must be given, or serverUrl, token and channelId in its place',
      path: ['webhookUrl'],
    })
    .refine(
      (given) =>
        [given.serverUrl, given.userId, given.channelId].every(
          (one) => (one === undefined) === (given.token === undefined),
        ),
      {
        error: 'must be given together with token, userId and channelId',
        path: ['serverUrl'],
      },
    ),
  sealed: ['webhookUrl', 'serverUrl', 'token', 'userId'],
  addresses: ['webhookUrl', 'serverUrl'],
  templates: ['title', 'text'],
});
