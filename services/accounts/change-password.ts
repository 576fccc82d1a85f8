/** A new password: by who knows the present one, or by a link for who has forgotten it. */
import type { ChangePasswordInput, LinkSubject, ResetPasswordInput } from '#contracts/member';
import { toTimestamp } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import { changeOrganization } from './change-organization.js';
import { findByEmail, findMember, type FoundMember } from './find-member.js';
import { linkToken, readLinkToken, resetLifetimeMs } from './links.js';
import { hashEmail, openEmail } from './member-email.js';
import { checkPasswordAgain, hashNewPassword } from './own-account.js';
import type { Letter } from './post-office.js';
import type { AccountPorts } from './ports.js';
import { beginSession, currentSession, type Opened } from './sessions.js';

/** Ends all sessions of the account and begins another for the one who asks. Rejects with `wrong_password`. */
export async function changePassword(
  ports: AccountPorts,
  { token, address, currentPassword, newPassword }: ChangePasswordInput,
  requestId: string,
): Promise<Opened & { readonly organization: number | null }> {
  const { session, found } = await currentSession(ports, token);
  await checkPasswordAgain(ports, found, { password: currentPassword, address, field: 'currentPassword' });
  const { id: memberId, emailHash, epoch } = found.member;
  const passwordHash = await hashNewPassword(ports, emailHash, newPassword);
  const { id: organizationId } = found.organization;
  const command = { type: 'changePassword', memberId, passwordHash, by: 'member', epoch } as const;
  const asking = { actor: `user:${memberId}`, requestId };
  const { position } = await changeOrganization(ports, organizationId, command, asking);
  const changed = await findMember(ports, organizationId, memberId);
  if (changed === null) throw notFound('member');
  const { provider } = session;
  return { ...(await beginSession(ports, changed, { requestId, provider })), organization: position };
}

const resetKinds = ['password-reset', 'printed-reset'] as const;
type ResetKind = (typeof resetKinds)[number];

export function resetUrl(
  ports: Pick<AccountPorts, 'linkPepper'>,
  baseUrl: string,
  found: FoundMember,
  { kind, nowMs }: { readonly kind: ResetKind; readonly nowMs: number },
): string {
  const { member, organization } = found;
  const { id: memberId, epoch } = member;
  const expiresAtMs = nowMs + resetLifetimeMs;
  const link = { kind, organizationId: organization.id, memberId, expiresAtMs, epoch } as const;
  return `${baseUrl}/password-resets/${linkToken(link, ports.linkPepper)}`;
}

function resetLetter(to: string, organization: string, url: string): Letter {
  return {
    to,
    subject: 'A new password for Meerkat',
    text: [
      `Somebody, probably you, asked for a new password of your account in ${organization}.`,
      '',
      'Set it here within an hour; the link is good once:',
      url,
      '',
      'If it was not you, nothing has changed and there is nothing to do.',
      '',
    ].join('\n'),
  };
}

/**
 * A link to each account of the address. The answer waits for none of it, so it is the same for an address that nobody has. At
 * most three in a quarter of an hour go to one address.
 */
export function requestReset(ports: AccountPorts, email: string, requestId: string): void {
  if (!ports.postOffice.isOpen) {
    const message = 'a new password was asked for, and no mail goes out: meerkat accounts reset-password prints a link';
    ports.logger.warn({ requestId }, message);
    return;
  }
  const emailHash = hashEmail(email, ports.pepper);
  ports.postOffice.send(`password reset (${requestId})`, async () => {
    const active = (await findByEmail(ports, emailHash)).filter(({ member }) => member.status === 'active');
    if (active.length === 0 || !(await ports.attempts.mayMail(emailHash))) return [];
    return Promise.all(active.map((found) => writeReset(ports, found, requestId)));
  });
}

async function writeReset(ports: AccountPorts, found: FoundMember, requestId: string): Promise<Letter> {
  const { member, organization } = found;
  const nowMs = ports.clock.now();
  const expiresAt = toTimestamp(nowMs + resetLifetimeMs);
  const command = { type: 'requestReset', memberId: member.id, expiresAt } as const;
  await changeOrganization(ports, organization.id, command, { actor: 'anonymous', requestId });
  const to = await openEmail(ports.vault, organization.id, member.id, member.email);
  return resetLetter(
    to,
    organization.name,
    resetUrl(ports, await ports.address.baseUrl(), found, { kind: 'password-reset', nowMs }),
  );
}

/** Rejects with `not_found` for a link that is unknown, used or too old. */
async function resettable(
  ports: AccountPorts,
  token: string,
): Promise<{ readonly found: FoundMember; readonly kind: ResetKind }> {
  const nowMs = ports.clock.now();
  const [link = null] = resetKinds.flatMap((each) => readLinkToken(token, each, ports.linkPepper, nowMs) ?? []);
  const found = link === null ? null : await findMember(ports, link.organizationId, link.memberId);
  if (found?.member.status !== 'active' || found.member.epoch !== link?.epoch) throw notFound('link');
  return { found, kind: link.kind === 'printed-reset' ? link.kind : 'password-reset' };
}

export async function showReset(ports: AccountPorts, token: string): Promise<LinkSubject> {
  const { member, organization } = (await resettable(ports, token)).found;
  return {
    email: await openEmail(ports.vault, organization.id, member.id, member.email),
    organization: organization.name,
  };
}

/** Ends all sessions of the account; signing in is another step, with a second factor where there is one. */
export async function resetPassword(
  ports: AccountPorts,
  { token, newPassword, address }: ResetPasswordInput,
  requestId: string,
): Promise<number | null> {
  const { found, kind } = await resettable(ports, token);
  const { member, organization } = found;
  const { id: memberId, emailHash, epoch } = member;
  const passwordHash = await hashNewPassword(ports, emailHash, newPassword);
  // A link that was mailed has been read by the member; one that was printed, by whom the operator gave it.
  const isPrinted = kind === 'printed-reset';
  const by = isPrinted ? 'printed_link' : 'reset';
  const command = { type: 'changePassword', memberId, passwordHash, by, epoch } as const;
  const asking = { actor: isPrinted ? 'system:cli' : `user:${memberId}`, requestId };
  const { position } = await changeOrganization(ports, organization.id, command, asking);
  // Who was locked out by the guesses of others signs in from here next.
  await ports.attempts.proved(memberId, address);
  return position;
}
