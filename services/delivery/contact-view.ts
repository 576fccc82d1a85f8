/** The view `contacts`: each as it is now. */
import { contactsView, type ContactDocument, type ContactEvent } from '#contracts/contact';
import { decodeEvent } from '#eventing/codec';
import type { Projected } from '#eventing/projected';

export const contactsProjection: Projected<ContactDocument> = {
  view: contactsView,
  prefixes: ['contact-'],
  idOf: ({ stream }) => stream.slice('contact-'.length),
  reduce(document, recorded) {
    const event = decodeEvent<ContactEvent>(recorded);
    if (event.type === 'contact.removed') return null;
    const { organizationId, at } = recorded.metadata;
    return {
      ...event.data,
      id: recorded.stream.slice('contact-'.length),
      organizationId,
      createdAt: document?.createdAt ?? at,
      updatedAt: at,
    };
  },
};
