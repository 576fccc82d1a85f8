/** Members' addresses: sealed where stored, found by a keyed hash. */
import { createHmac } from 'node:crypto';
import { isSealed, type Sealed, type Vault } from '#vault/vault';

/** Upper and lower case are one address: no two accounts differ in that alone. */
export function hashEmail(email: string, pepper: Uint8Array): string {
  return createHmac('sha256', pepper)
    .update(`email|${email.normalize('NFKC').toLowerCase()}`)
    .digest('base64url');
}

/** Under the organisation's key; an address moved to another member does not open. */
export async function sealEmail(
  vault: Vault,
  organizationId: string,
  memberId: string,
  email: string,
): Promise<Sealed> {
  const { email: sealed } = await vault.seal(organizationId, `member/${memberId}`, { email }, ['email']);
  if (!isSealed(sealed)) throw new Error('the vault left an address in clear');
  return { $sealed: sealed.$sealed };
}

/** Rejects with `secret_unreadable`. */
export async function openEmail(
  vault: Vault,
  organizationId: string,
  memberId: string,
  email: Sealed,
): Promise<string> {
  const { email: opened } = await vault.open(organizationId, `member/${memberId}`, { email: { ...email } });
  return typeof opened === 'string' ? opened : '';
}
