/** Contacts: an organisation's named receivers, so that an address changes in one place. */
import { z } from 'zod';
import { declarations, type ActionType } from '#channels/declarations';
import { actionType, contactName } from './action.js';
import { idSchema, jsonObject, storedTimestamp } from './common.js';
import { defineEvent, type EventOf, type Fold } from './event.js';
import type { ViewDefinition } from '#read-store/read-store';

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function inputOf({ type, config }: { readonly type: ActionType; readonly config: z.ZodObject }) {
  return z
    .strictObject({
      name: contactName.describe('What actions call it.'),
      type: z.literal(type).describe('The channel.'),
      config: config.describe('Settings of the channel.'),
    })
    .meta({ id: `${capital(type)}ContactInput` });
}

const [first, ...others] = declarations;

/** As a user writes it. */
export const contactInput = z
  .discriminatedUnion('type', [inputOf(first), ...others.map(inputOf)])
  .meta({ id: 'ContactInput' });
export type ContactInput = z.infer<typeof contactInput>;

/** As stored: sealed values inside `config`, under the key of its organisation. */
export const storedContact = z.object({ name: z.string(), type: actionType, config: jsonObject });
export type StoredContact = z.infer<typeof storedContact>;

export const contactEvents = [
  /** Whole, the first one as well as each change. */
  defineEvent('contact.saved', { version: 1, schema: storedContact }),
  defineEvent('contact.removed', { version: 1, schema: z.object({ name: z.string() }) }),
] as const;
export type ContactEvent = EventOf<(typeof contactEvents)[number]>;

export type Contact = { readonly status: 'none' } | { readonly status: 'there'; readonly contact: StoredContact };

export const contactFold: Fold<Contact, ContactEvent> = {
  initial: { status: 'none' },
  evolve: (_contact, event) =>
    event.type === 'contact.saved' ? { status: 'there', contact: event.data } : { status: 'none' },
};

/** The view `contacts`. */
export const contactDocument = storedContact.extend({
  /** Of organisation and name. */
  id: z.string(),
  organizationId: idSchema('org'),
  createdAt: storedTimestamp,
  updatedAt: storedTimestamp,
});
export type ContactDocument = z.infer<typeof contactDocument>;

export const contactsView: ViewDefinition<ContactDocument> = {
  name: 'contacts',
  fields: ['organizationId', 'name'],
  indexes: [['organizationId', 'name']],
};

export const contactId = (organizationId: string, name: string): string => `${organizationId}/${name}`;
export const contactStream = (organizationId: string, name: string): string =>
  `contact-${contactId(organizationId, name)}`;
/** What its settings are sealed for, under the key of its organisation. */
export const contactScope = (name: string): string => `contacts/${name}`;

/** What the delivery service is asked to do (`contact.change`). */
export const contactCommand = z.discriminatedUnion('type', [
  z.object({ type: z.literal('createContact'), contact: storedContact }),
  z.object({ type: z.literal('replaceContact'), contact: storedContact }),
  z.object({ type: z.literal('removeContact'), name: z.string() }),
]);
export type ContactCommand = z.infer<typeof contactCommand>;

export const contactChanged = z.object({ position: z.number().nullable() });
