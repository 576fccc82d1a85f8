import { describe, it } from '@jest/globals';
import type { ContactEvent, StoredContact } from '#contracts/contact';
import { given } from '#eventing/given';
import { contactDecider } from './contact.js';

const contact: StoredContact = { name: 'ops', type: 'webhook', config: { url: { $sealed: 'x' } } };
const saved: ContactEvent = { type: 'contact.saved', data: contact };
const other = { ...contact, config: { url: { $sealed: 'y' } } };

describe('a contact', () => {
  it('is made once under its name', () => {
    given(contactDecider).when({ type: 'createContact', contact }).then(saved);
    given(contactDecider, saved).when({ type: 'createContact', contact: other }).thenRejected('already_exists');
  });

  it('is replaced where that changes it', () => {
    given(contactDecider, saved)
      .when({ type: 'replaceContact', contact: other })
      .then({ type: 'contact.saved', data: other })
      .andAgainNothing();
    given(contactDecider, saved).when({ type: 'replaceContact', contact }).thenNothing();
    given(contactDecider).when({ type: 'replaceContact', contact }).thenRejected('not_found');
  });

  it('is gone once it is removed, and its name is free', () => {
    const removed: ContactEvent = { type: 'contact.removed', data: { name: 'ops' } };
    given(contactDecider, saved).when({ type: 'removeContact', name: 'ops' }).then(removed);
    given(contactDecider, saved, removed).when({ type: 'removeContact', name: 'ops' }).thenRejected('not_found');
    given(contactDecider, saved, removed)
      .when({ type: 'createContact', contact: other })
      .then({ type: 'contact.saved', data: other });
  });
});
