/** A contact: made once under its name, replaced, removed. Whether it is in use is known by who reads the tasks. */
import {
  contactFold,
  type Contact,
  type ContactCommand,
  type ContactEvent,
  type StoredContact,
} from '#contracts/contact';
import type { Decider } from '#eventing/decider';
import { AppError, notFound, unreachable } from '#runtime/errors';

function saved(contact: StoredContact, before: StoredContact | null): readonly ContactEvent[] {
  if (before !== null && JSON.stringify(before) === JSON.stringify(contact)) return [];
  return [{ type: 'contact.saved', data: contact }];
}

function decide(command: ContactCommand, state: Contact): readonly ContactEvent[] {
  switch (command.type) {
    case 'createContact': {
      const { name } = command.contact;
      if (state.status === 'none') return saved(command.contact, null);
      throw new AppError('VALIDATION_ERROR', 'already_exists', 'Another contact has this name.', {
        details: [{ field: 'name', rule: 'unique', message: `${name} is taken` }],
      });
    }
    case 'replaceContact':
      if (state.status === 'none') throw notFound('contact');
      return saved(command.contact, state.contact);
    case 'removeContact':
      if (state.status === 'none') throw notFound('contact');
      return [{ type: 'contact.removed', data: { name: command.name } }];
    default:
      return unreachable(command);
  }
}

export const contactDecider: Decider<Contact, ContactCommand, ContactEvent> = { ...contactFold, decide };
