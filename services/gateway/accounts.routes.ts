/** The operations on API keys and sessions. */
import { z } from 'zod';
import { apiKey, createdKey, givenPassword, keyInput, keyRotation, session, sessionInput } from '#contracts/account';
import { storedTimestamp } from '#contracts/common';
import { pageParameters } from '#http/parameters';
import { route } from '#http/route';

const key = { id: { prefix: 'key', of: 'API key' } } as const;

const lastUsedAt = storedTimestamp
  .nullable()
  .describe('When it was let in last, up to half a minute late; null: never.');
export const keyAnswer = apiKey.omit({ organizationId: true }).extend({ lastUsedAt }).meta({ id: 'ApiKey' });
export const createdKeyAnswer = createdKey
  .omit({ organizationId: true })
  .extend({ lastUsedAt })
  .meta({ id: 'CreatedApiKey' });

export const listKeys = route({
  method: 'GET',
  path: '/api/keys',
  operationId: 'listKeys',
  summary: 'List API keys',
  description: 'Those that are not revoked, newest first. No answer but that of their making holds a key itself.',
  tag: 'Keys',
  access: 'admin',
  query: z.strictObject(pageParameters),
  answers: [{ status: 200, description: 'API keys.', envelope: 'list', schema: keyAnswer }],
});

export const createKey = route({
  method: 'POST',
  path: '/api/keys',
  operationId: 'createKey',
  summary: 'Make an API key',
  tag: 'Keys',
  access: 'admin',
  body: keyInput,
  bodyExample: { name: 'Dashboard', scopes: ['read'] },
  answers: [
    {
      status: 201,
      description: 'The key. `key` is shown again only by `reveal`, never where KEYS_SHOW_ONCE is set.',
      envelope: 'data',
      schema: createdKeyAnswer,
    },
  ],
});

export const getKey = route({
  method: 'GET',
  path: '/api/keys/{id}',
  operationId: 'getKey',
  summary: 'Get an API key',
  tag: 'Keys',
  access: 'admin',
  ids: key,
  answers: [{ status: 200, description: 'The key, without itself.', envelope: 'data', schema: keyAnswer }],
});

export const revokeKey = route({
  method: 'DELETE',
  path: '/api/keys/{id}',
  operationId: 'revokeKey',
  summary: 'Revoke an API key at once',
  tag: 'Keys',
  access: 'admin',
  ids: key,
  answers: [
    {
      status: 200,
      description: 'No request gets in with it any more.',
      envelope: 'data',
      schema: z.object({
        id: z.string().describe('Of what is gone.'),
        deleted: z.literal(true).describe('It is gone.'),
      }),
    },
  ],
});

export const rotateKey = route({
  method: 'POST',
  path: '/api/keys/{id}/rotate',
  operationId: 'rotateKey',
  summary: 'Make another key in the place of one',
  description: 'With the same name, scopes and limits. The old one is good until the overlap ends. Once for each key.',
  tag: 'Keys',
  access: 'admin',
  ids: key,
  body: keyRotation,
  emptyBody: {},
  bodyExample: { overlapSeconds: 3_600 },
  answers: [
    {
      status: 201,
      description: 'The new key. `key` is shown again only by `reveal`, never where KEYS_SHOW_ONCE is set.',
      envelope: 'data',
      schema: createdKeyAnswer,
    },
  ],
});

export const revealKey = route({
  method: 'POST',
  path: '/api/keys/{id}/reveal',
  operationId: 'revealKey',
  summary: 'See a key again',
  description:
    'For owners who are signed in, with their password; each time is on record, also under one Idempotency-Key. With KEYS_SHOW_ONCE it is refused: 403 `reveal_disabled`.',
  isDoneAnew: true,
  tag: 'Keys',
  access: 'session',
  ids: key,
  body: z.strictObject({ password: givenPassword.describe('Of who is signed in.') }),
  bodyExample: { password: 'correct horse battery staple' },
  answers: [
    {
      status: 200,
      description: 'The key.',
      envelope: 'data',
      schema: z.object({ key: z.string().describe('The key itself.') }),
    },
  ],
});

export const openSession = route({
  method: 'POST',
  path: '/api/sessions',
  operationId: 'openSession',
  summary: 'Sign in',
  description:
    'Sets the session cookie. Where a second factor is on, 401 `second_factor_required` without `code`. A wrong pair, and a wrong code, are always the same 401; after ten wrong ones in 15 minutes, from an address or for an account, 429. Those for an account do not hold up an address that signed in to it within 30 days, or that set its password by a link.',
  tag: 'Sessions',
  access: 'public',
  body: sessionInput,
  bodyExample: { email: 'owner@example.com', password: 'correct horse battery staple' },
  answers: [{ status: 201, description: 'Who is signed in, until when.', envelope: 'data', schema: session }],
  errors: [401],
});

export const showSession = route({
  method: 'GET',
  path: '/api/sessions/current',
  operationId: 'getSession',
  summary: 'Who is signed in',
  description: 'A session ends a week after signing in, or a day after it was used last.',
  tag: 'Sessions',
  access: 'public',
  answers: [{ status: 200, description: 'Who is signed in, until when.', envelope: 'data', schema: session }],
  errors: [401],
});

export const closeSession = route({
  method: 'DELETE',
  path: '/api/sessions/current',
  operationId: 'closeSession',
  summary: 'Sign out',
  description: 'Ends the session for good and clears the cookie. Without one there is nothing to do.',
  tag: 'Sessions',
  access: 'public',
  answers: [
    {
      status: 200,
      description: 'Signed out.',
      envelope: 'data',
      schema: z.object({
        id: z.literal('current').describe('Of what is gone.'),
        deleted: z.literal(true).describe('It is gone.'),
      }),
    },
  ],
});
