/** Apprise: the settings of an action. */
import { z } from 'zod';
import { plainWord, secretText, serverAddress, textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

const address = z
  .string()
  .min(4)
  .max(2_048)
  .regex(/^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/\S+|\*{8})$/, { error: 'must be an address of Apprise such as mailto://…' })
  .meta({ writeOnly: true, description: 'As Apprise writes the address of a service.' });

export const appriseDeclaration = declareChannel({
  type: 'apprise',
  config: z
    .strictObject({
      serverUrl: serverAddress('The Apprise API server.', 'http://apprise.example.com:8000'),
      urls: z.array(address).min(1).max(20).optional().describe('Where to, as Apprise writes it.'),
      key: z
        .string()
        .regex(/^(?:[-_A-Za-z0-9]{1,128}|\*{8})$/, { error: 'must be a key: 1 to 128 of A-Z a-z 0-9 - _' })
        .meta({ writeOnly: true, description: 'In place of `urls`: the key that the server has them under.' })
        .optional(),
      tag: plainWord(
        'With `key`: only services that have it.',
        /^[-_A-Za-z0-9, ]{1,200}$/,
        'must be words of A-Z a-z 0-9 - _',
      ).optional(),
      user: z
        .string()
        .min(1)
        .max(200)
        .regex(/^[^:]*$/, { error: 'must not hold a colon' })
        .optional()
        .describe('Of a proxy before the server.'),
      password: secretText('Of `user`.').optional(),
      title: titleTemplate,
      text: textTemplate,
    })
    .refine(({ urls, key }) => (urls === undefined) !== (key === undefined), {
      error: 'must be given, or key in its place',
      path: ['urls'],
    })
    .refine(({ user, password }) => (user === undefined) === (password === undefined), {
      error: 'must have both user and password, or neither',
      path: ['password'],
    }),
  sealed: ['serverUrl', 'urls[]', 'key', 'user', 'password'],
  addresses: ['serverUrl'],
  templates: ['title', 'text'],
});
