/** Gotify: the settings of an action. */
import { z } from 'zod';
import { byKind, secretWord, serverAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

export const gotifyDeclaration = declareChannel({
  type: 'gotify',
  config: z.strictObject({
    serverUrl: serverAddress('The server.', 'https://push.example.com'),
    token: secretWord('Of an application, not of a client.', 100),
    title: titleTemplate,
    text: textTemplate,
    priority: byKind(z.int().min(0).max(10), 'From 0 to 10, by the kind of message; from 4 on with a sound. 5.'),
  }),
  sealed: ['serverUrl', 'token'],
  addresses: ['serverUrl'],
  templates: ['title', 'text'],
});
