/** Members of an organisation: invited by a link, changed, removed. */
import type { RequestContext } from '#bus/bus';
import type {
  AcceptInvitationInput,
  ChangeMemberInput,
  InvitedMember,
  LinkSubject,
  MemberInput,
  RemoveMemberInput,
  ShownMember,
} from '#contracts/member';
import { toTimestamp } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import { changeOrganization } from './change-organization.js';
import type { Member, Organization } from './domain/organization.js';
import { endOperatorKeys } from './end-operator-keys.js';
import { findMember, findOrganization, homeOrganizationId, type FoundMember } from './find-member.js';
import { invitationLifetimeMs, linkToken, readLinkToken } from './links.js';
import { hashEmail, openEmail, sealEmail } from './member-email.js';
import { hashNewPassword } from './own-account.js';
import { isByOwner } from './owner-rank.js';
import type { AccountPorts, Asking } from './ports.js';
import { beginSession, type Opened } from './sessions.js';

async function shown(
  ports: AccountPorts,
  organizationId: string,
  member: Member,
  createdAt: string,
): Promise<ShownMember> {
  const { id, role, operator, status, secondFactor, expiresAt } = member;
  const email = await openEmail(ports.vault, organizationId, id, member.email);
  return { id, email, role, operator, status, secondFactor: secondFactor.state, createdAt, expiresAt };
}

/** As their stream tells it: a member of another organisation is not found. */
export async function showMember(ports: AccountPorts, organizationId: string, memberId: string): Promise<ShownMember> {
  const found = await findOrganization(ports, organizationId);
  const member = found?.organization.members.find(({ id }) => id === memberId);
  if (found === null || member === undefined) throw notFound('member');
  return shown(ports, organizationId, member, found.invitedAt.get(memberId) ?? found.createdAt);
}

/** Newest first. */
export async function listMembers(
  ports: AccountPorts,
  organizationId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly members: readonly ShownMember[]; readonly total: number }> {
  const found = await findOrganization(ports, organizationId);
  if (found === null) return { members: [], total: 0 };
  const { organization, invitedAt, createdAt } = found;
  const dated = organization.members.map((member) => ({ member, at: invitedAt.get(member.id) ?? createdAt }));
  const newest = dated.toSorted((one, other) =>
    one.at === other.at ? (one.member.id < other.member.id ? 1 : -1) : one.at < other.at ? 1 : -1,
  );
  const page = newest.slice(offset, offset + limit);
  const members = await Promise.all(page.map(({ member, at }) => shown(ports, organizationId, member, at)));
  return { members, total: dated.length };
}

export async function invitationUrl(
  ports: AccountPorts,
  organizationId: string,
  { id: memberId, expiresAt }: Pick<Member, 'id'> & { readonly expiresAt: string },
): Promise<string> {
  const expiresAtMs = Date.parse(expiresAt);
  const token = linkToken({ kind: 'invitation', organizationId, memberId, expiresAtMs, epoch: 0 }, ports.linkPepper);
  return `${await ports.address.baseUrl()}/invitations/${token}`;
}

export function sendInvitation(ports: AccountPorts, to: string, organization: string, url: string): void {
  if (!ports.postOffice.isOpen) return;
  const text = [
    `You are invited to ${organization} on Meerkat.`,
    '',
    'Take the invitation here within a week; the link is good once:',
    url,
    '',
  ].join('\n');
  const letter = { to, subject: `An invitation to ${organization}`, text };
  ports.postOffice.send('invitation', () => Promise.resolve([letter]));
}

/** Again for who was invited and has not joined: the link before is no longer good. Rejects with `already_exists` and `owner_required`. */
export async function inviteMember(
  ports: AccountPorts,
  organizationId: string,
  { email, role }: MemberInput,
  asking: Asking,
): Promise<{ readonly invited: InvitedMember; readonly position: number | null }> {
  const emailHash = hashEmail(email, ports.pepper);
  const known = await findOrganization(ports, organizationId);
  if (known === null) throw notFound('organisation');
  const pending = known.organization.members.find((one) => one.emailHash === emailHash && one.status === 'invited');
  const id = pending?.id ?? ports.ids.next('usr');
  const expiresAt = toTimestamp(ports.clock.now() + invitationLifetimeMs);
  const member = { id, email: await sealEmail(ports.vault, organizationId, id, email), emailHash, role };
  const byOwner = await isByOwner(ports, { ...asking, organizationId });
  const command = { type: 'inviteMember', member, expiresAt, byOwner } as const;
  const { position } = await changeOrganization(ports, organizationId, command, asking);
  const url = await invitationUrl(ports, organizationId, { id, expiresAt });
  sendInvitation(ports, email, known.organization.name, url);
  return { invited: { ...(await showMember(ports, organizationId, id)), invitationUrl: url, expiresAt }, position };
}

async function invitedMember(
  ports: AccountPorts,
  token: string,
): Promise<{ readonly found: FoundMember; readonly expiresAt: string }> {
  const link = readLinkToken(token, 'invitation', ports.linkPepper, ports.clock.now());
  const found = link === null ? null : await findMember(ports, link.organizationId, link.memberId);
  const expiresAt = link === null ? '' : toTimestamp(link.expiresAtMs);
  if (found?.member.status !== 'invited' || found.member.expiresAt !== expiresAt) throw notFound('invitation');
  return { found, expiresAt };
}

/** Rejects with `not_found` for a link that is unknown, taken, replaced or too old. */
export async function showInvitation(ports: AccountPorts, token: string): Promise<LinkSubject> {
  const { member, organization } = (await invitedMember(ports, token)).found;
  const email = await openEmail(ports.vault, organization.id, member.id, member.email);
  return { email, organization: organization.name };
}

/** Joins and signs in. Rejects as `showInvitation` does. */
export async function acceptInvitation(
  ports: AccountPorts,
  { token, password }: AcceptInvitationInput,
  requestId: string,
): Promise<Opened & { readonly organization: number | null }> {
  const { found, expiresAt } = await invitedMember(ports, token);
  const { id: memberId, emailHash } = found.member;
  const { id: organizationId } = found.organization;
  const passwordHash = await hashNewPassword(ports, emailHash, password);
  const command = {
    type: 'joinMember',
    memberId,
    passwordHash,
    at: toTimestamp(ports.clock.now()),
    expiresAt,
  } as const;
  const asking = { actor: `user:${memberId}`, requestId };
  const { position } = await changeOrganization(ports, organizationId, command, asking);
  const joined = await findMember(ports, organizationId, memberId);
  if (joined === null) throw notFound('invitation');
  return { ...(await beginSession(ports, joined, { requestId })), organization: position };
}

const keepsOperator = async (ports: AccountPorts, organizationId: string): Promise<boolean> =>
  (await homeOrganizationId(ports)) === organizationId;

/** Rejects with `not_found`, `last_owner`, `last_operator` or `owner_required`. */
export async function changeMember(
  ports: AccountPorts,
  { organizationId, ...asking }: RequestContext,
  { memberId, change }: ChangeMemberInput,
): Promise<{ readonly position: number | null; readonly state: Organization }> {
  const keeps = await keepsOperator(ports, organizationId);
  const byOwner = await isByOwner(ports, { ...asking, organizationId });
  const command = { type: 'changeMember', memberId, ...change, keepsOperator: keeps, byOwner } as const;
  const changed = await changeOrganization(ports, organizationId, command, asking);
  if (change.operator === false) await endOperatorKeys(ports, { organizationId, ...asking }, memberId);
  return changed;
}

/** Rejects as `changeMember` does. */
export async function removeMember(
  ports: AccountPorts,
  { organizationId, ...asking }: RequestContext,
  { memberId, isOperator }: RemoveMemberInput,
): Promise<number | null> {
  const keeps = await keepsOperator(ports, organizationId);
  const byOwner = await isByOwner(ports, { ...asking, organizationId });
  const command = { type: 'removeMember', memberId, keepsOperator: keeps, byOwner, byOperator: isOperator } as const;
  const { position } = await changeOrganization(ports, organizationId, command, asking);
  await endOperatorKeys(ports, { organizationId, ...asking }, memberId);
  return position;
}
