/** Members' addresses: sealed where stored, found by a keyed hash. */
import { createHmac } from 'node:crypto';
import { isPlainAddress } from '#contracts/account';
import { isSealed, type Sealed, type Vault } from '#vault/vault';

/**
 * Upper and lower case are one address: no two accounts differ in that alone. What is not plain is nobody's. Hashes are stored:
 * who was let in by an address that is not plain is found by the plain one.
 */
export function hashEmail(email: string, pepper: Uint8Array): string {
  const kind = isPlainAddress(email) ? 'email' : 'no-email';
  return createHmac('sha256', pepper)
    .update(`${kind}|${email.normalize('NFKC').toLowerCase()}`)
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
  vault: Pick<Vault, 'open'>,
  organizationId: string,
  memberId: string,
  email: Sealed,
): Promise<string> {
  const { email: opened } = await vault.open(organizationId, `member/${memberId}`, { email: { ...email } });
  return typeof opened === 'string' ? opened : '';
}
