/** Contacts that actions name. */
import { contactId, contactsView, type ContactDocument } from '#contracts/contact';
import { refuse } from '#http/validation';
import type { ReadStore } from '#read-store/read-store';
import { everyDocument } from './paging.js';

/** `field`: where it is named. Throws where the organisation has no such contact. */
export async function knownContact(
  readStore: Pick<ReadStore, 'get'>,
  organizationId: string,
  name: string,
  field: readonly PropertyKey[],
): Promise<ContactDocument> {
  const found = await readStore.get(contactsView, contactId(organizationId, name));
  if (found !== null) return found;
  throw refuse([...field, 'contact'], 'unknown', 'is no contact of this organisation', 'contact_unknown');
}

/** Of all contacts of the organisation. */
export async function contactNames(readStore: ReadStore, organizationId: string): Promise<string[]> {
  const ofOrganization = [{ field: 'organizationId', equals: organizationId }] as const;
  const contacts = await Array.fromAsync(everyDocument(readStore, contactsView, 'name', ofOrganization));
  return contacts.map(({ name }) => name);
}
