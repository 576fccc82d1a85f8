/** The contact that an action names. */
import { contactId, contactsView, type ContactDocument } from '#contracts/contact';
import { refuse } from '#http/validation';
import type { ReadStore } from '#read-store/read-store';

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
