/** Signal, by a signal-cli REST API of one's own: the settings of an action. */
import { z } from 'zod';
import { phoneNumber, secretText, serverAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

const recipient = z.string().regex(/^(?:\+[1-9][0-9]{6,14}|group\.[A-Za-z0-9+/=_-]{20,200}|u:[A-Za-z0-9_.]{3,40})$/, {
  error: 'must be a number such as +4915112345678, a group (group.…) or a user name (u:…)',
});

export const signalDeclaration = declareChannel({
  type: 'signal',
  config: z
    .strictObject({
      serverUrl: serverAddress('The signal-cli REST API.', 'http://signal.example.com:8080'),
      number: phoneNumber.describe('The number that sends.'),
      recipients: z.array(recipient).min(1).max(20).describe('Numbers, groups and user names.'),
      user: z
        .string()
        .min(1)
        .max(200)
        .regex(/^[^:]*$/, { error: 'must not hold a colon' })
        .optional()
        .describe('Of a proxy before the API, which has no login itself.'),
      password: secretText('Of `user`.').optional(),
      title: titleTemplate,
      text: textTemplate,
    })
    .refine(({ user, password }) => (user === undefined) === (password === undefined), {
      error: 'must have both user and password, or neither',
      path: ['password'],
    }),
  sealed: ['serverUrl', 'number', 'recipients[]', 'user', 'password'],
  addresses: ['serverUrl'],
  templates: ['title', 'text'],
});
