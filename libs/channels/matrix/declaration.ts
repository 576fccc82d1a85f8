/** Matrix: the settings of an action. */
import { z } from 'zod';
import { plainWord, secretWord, serverAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const matrixDeclaration = declareChannel({
  type: 'matrix',
  config: z.strictObject({
    homeserver: serverAddress('The server of the account.', 'https://matrix.example.org'),
    accessToken: secretWord('Of the account, which has joined the room.', 1_000),
    roomId: plainWord(
      'The id of the room (Settings → Advanced), which is not encrypted.',
      /^![^\s:/]{1,200}(?::[A-Za-z0-9.:[\]-]{1,255})?$/,
      'must be the id of a room such as !abc:example.org, not its alias',
    ),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['homeserver', 'accessToken', 'roomId'],
  addresses: ['homeserver'],
  templates: ['title', 'text'],
});
