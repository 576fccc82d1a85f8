/** ntfy: the settings of an action. */
import { z } from 'zod';
import { declareChannel } from '../declaration.js';

/** A server may stand under a path; `token`, or `user` and `password`, give the right to publish. */
const serverAddress = z
  .string()
  .min(1)
  .max(2_048)
  .refine(
    (value) => {
      if (!URL.canParse(value) || !/^https?:\/\//i.test(value)) return false;
      const { username, password, search, hash } = new URL(value);
      return username + password + search + hash === '';
    },
    { error: 'must be the address of an ntfy server such as https://ntfy.example.com, without credentials or a query' },
  );

const priority = z.int().min(1).max(5);
/** One header field of ASCII. */
const token = z
  .string()
  .max(500)
  .regex(/^[\u0021-\u007e]+$/, { error: 'must be a token such as tk_…' });

export const ntfyDeclaration = declareChannel({
  type: 'ntfy',
  config: z
    .strictObject({
      topic: z
        .string()
        .regex(/^[-_A-Za-z0-9]{1,64}$/, { error: 'must be a topic: 1 to 64 of A-Z a-z 0-9 - _' })
        .describe('The topic.'),
      serverUrl: serverAddress.optional().describe('The server; https://ntfy.sh where it is left out.'),
      token: token.meta({ writeOnly: true }).optional().describe('Gives the right to publish.'),
      user: z
        .string()
        .min(1)
        .max(200)
        // A colon would end the name in the header.
        .regex(/^[^:]*$/, { error: 'must not hold a colon' })
        .optional()
        .describe('With `password`, in place of a token.'),
      password: z.string().min(1).max(500).meta({ writeOnly: true }).optional().describe('Of `user`.'),
      title: z.string().min(1).max(500).optional().describe('Template: the headline.'),
      message: z.string().max(65_536).optional().describe('Template: the text.'),
      priority: z
        .strictObject({
          triggered: priority.optional().describe('Of what became true.'),
          recovered: priority.optional().describe('Of what is over.'),
          error: priority.optional().describe('Of a check that fails.'),
        })
        .optional()
        .describe('From 1 to 5, by the kind of message.'),
      tags: z.array(z.string().min(1).max(50)).max(10).optional().describe('Words or emoji names.'),
    })
    .refine(({ user, password }) => (user === undefined) === (password === undefined), {
      error: 'must have both user and password, or neither',
      path: ['password'],
    })
    .refine(({ token: given, user }) => given === undefined || user === undefined, {
      error: 'must not be given together with user and password',
      path: ['token'],
    }),
  // On a public server, to know the topic is to read and to write it.
  sealed: ['serverUrl', 'topic', 'token', 'user', 'password'],
  addresses: ['serverUrl'],
  templates: ['title', 'message'],
});
