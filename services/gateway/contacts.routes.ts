/** The operations on contacts, as the contract has them. */
import { z } from 'zod';
import { declarations } from '#channels/declarations';
import { contactName } from '#contracts/action';
import { storedTimestamp } from '#contracts/common';
import { contactInput } from '#contracts/contact';
import { pageParameters } from '#http/parameters';
import { route } from '#http/route';
import { secretRotation } from './actions.routes.js';
import { secretMask } from '#runtime/secret-mask';

const tag = 'Contacts';

/** Of the answer, not settable: passed over in requests. */
const ignoredFields = ['createdAt', 'updatedAt'] as const;

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function answerOf({ type, config }: (typeof declarations)[number]) {
  return z
    .object({
      name: contactName.describe('What actions call it.'),
      type: z.literal(type).describe('The channel.'),
      config: (config as z.ZodObject).describe(`Settings of the channel; secrets are ${secretMask}.`),
      createdAt: storedTimestamp.describe('When it was made.'),
      updatedAt: storedTimestamp.describe('When it was changed last.'),
    })
    .meta({ id: `${capital(type)}Contact` });
}

const [first, ...others] = declarations;

export const contactAnswer = z
  .discriminatedUnion('type', [answerOf(first), ...others.map(answerOf)])
  .meta({ id: 'Contact' });

const example = { name: 'ops', type: 'webhook', config: { url: 'https://example.com/ops' } };
const there = { status: 200, description: 'The contact.', envelope: 'data', schema: contactAnswer } as const;
const path = '/api/contacts/{name}';
const ids = {
  name: { pattern: '^[a-z0-9-]{1,64}$', of: 'contact', description: 'What actions call it.', example: 'ops' },
} as const;

export const listContacts = route({
  method: 'GET',
  path: '/api/contacts',
  operationId: 'listContacts',
  summary: 'List the contacts of the organisation, by name',
  tag,
  access: 'read',
  query: z.strictObject(pageParameters),
  answers: [{ status: 200, description: 'Contacts.', envelope: 'list', schema: contactAnswer }],
});

export const createContact = route({
  method: 'POST',
  path: '/api/contacts',
  operationId: 'createContact',
  summary: 'Give a receiver a name that actions go by',
  description:
    'An action names it (`{ "contact": "ops" }`) in place of a type and its config. A webhook secret that the service makes is in clear in this answer only.',
  tag,
  access: 'write',
  answersSecret: true,
  body: contactInput,
  ignoredFields,
  bodyExample: example,
  answers: [
    {
      status: 201,
      description: 'The contact as it was stored.',
      envelope: 'data',
      schema: contactAnswer,
      headers: { Location: 'Where the contact is.' },
    },
  ],
});

export const getContact = route({
  method: 'GET',
  path,
  operationId: 'getContact',
  summary: 'Get a contact',
  tag,
  access: 'read',
  ids,
  answers: [there],
});

export const replaceContact = route({
  method: 'PUT',
  path,
  operationId: 'replaceContact',
  summary: 'Replace the settings of a contact',
  description:
    'What is decided from now on goes there, by every action that names it. A secret that comes back as ******** is kept; a contact whose type changes keeps nothing of its old config.',
  tag,
  access: 'write',
  body: contactInput,
  ignoredFields,
  bodyExample: example,
  ids,
  answers: [there],
});

export const patchContact = route({
  method: 'PATCH',
  path,
  operationId: 'patchContact',
  summary: 'Change some settings of a contact',
  description: 'A JSON merge patch (RFC 7396).',
  tag,
  access: 'write',
  body: z.record(z.string(), z.json()).meta({ patchOf: contactInput }),
  ignoredFields,
  bodyExample: { config: { url: 'https://example.com/new' } },
  mergePatch: true,
  ids,
  answers: [there],
});

export const rotateContactSecret = route({
  method: 'POST',
  path: `${path}/rotate-secret`,
  operationId: 'rotateContactSecret',
  summary: 'Make a new secret for a webhook that is a contact',
  description:
    'The new secret is in clear in this answer only. For the time of the overlap what is decided is signed with both, the new one first; 0 ends the old one at once.',
  tag,
  access: 'write',
  answersSecret: true,
  ids,
  body: secretRotation,
  emptyBody: {},
  bodyExample: { overlapSeconds: 3_600 },
  answers: [there],
});

export const deleteContact = route({
  method: 'DELETE',
  path,
  operationId: 'deleteContact',
  summary: 'Remove a contact that no action names',
  description: 'One in use cannot go: 400 `in_use`, with the id of each notification in `details`.',
  tag,
  access: 'write',
  ids,
  answers: [
    {
      status: 200,
      description: 'It is removed.',
      envelope: 'data',
      schema: z.object({
        name: contactName.describe('Of what is gone.'),
        deleted: z.literal(true).describe('It is gone.'),
      }),
    },
  ],
});
