/** What members do with their own account: who they are, and their password given again. */
import type { RequestContext } from '#bus/bus';
import { AppError, reject } from '#runtime/errors';
import { findByEmail, findMember, type FoundMember } from './find-member.js';
import type { AccountPorts } from './ports.js';

/** The member who asks; a key is nobody's account. Rejects with `session_required`. */
export async function askingMember(
  ports: AccountPorts,
  { actor, organizationId }: Pick<RequestContext, 'actor' | 'organizationId'>,
): Promise<FoundMember> {
  const [kind, memberId = ''] = actor.split(':');
  const found = kind === 'user' ? await findMember(ports, organizationId, memberId) : null;
  if (found?.member.status === 'active') return found;
  throw new AppError('FORBIDDEN', 'session_required', 'This is for people who are signed in, not for API keys.');
}

/**
 * Rejects with `wrong_password`, naming the field, `no_password` where none was ever set, and as signing in does after too many
 * wrong ones.
 */
export async function checkPasswordAgain(
  ports: AccountPorts,
  { member }: Pick<FoundMember, 'member'>,
  { password, address, field }: { readonly password: string; readonly address: string; readonly field: string },
): Promise<void> {
  const { id, emailHash, passwordHash } = member;
  if (passwordHash === null) {
    throw reject('no_password', 'This account has no password: set one by a link for a new password first.');
  }
  const attempt = await ports.attempts.begin(emailHash, address, () => Promise.resolve([id]));
  const isRight = await ports.passwords.matches(password, passwordHash).catch(async (error: unknown) => {
    await attempt.abandoned();
    throw error;
  });
  if (!isRight) {
    throw reject('wrong_password', `${field} is not the password of this account.`, [
      { field, rule: 'wrong', message: 'is not the password of this account' },
    ]);
  }
  await attempt.succeeded(id);
}

/** With the salt of the same person's other accounts, so that signing in takes one hash for all of them. */
export async function hashNewPassword(ports: AccountPorts, emailHash: string, password: string): Promise<string> {
  const alike = await findByEmail(ports, emailHash);
  return ports.passwords.hash(
    password,
    alike.flatMap(({ member }) => member.passwordHash ?? []),
  );
}
