/** Organisations of the instance: founded by an operator, changed by who administers them. */
import type { Session } from '#contracts/account';
import type { ChangeOrganizationInput, OrganizationInput } from '#contracts/member';
import { toTimestamp } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import { changeOrganization } from './change-organization.js';
import { findOrganization, shownOrganization } from './find-member.js';
import { invitationLifetimeMs } from './links.js';
import { hashEmail, sealEmail } from './member-email.js';
import { invitationUrl, sendInvitation } from './members.js';
import type { AccountPorts, Asking } from './ports.js';

export interface Founded {
  readonly organization: Session['organization'];
  readonly invitationUrl: string;
  readonly position: number | null;
}

async function shownOf(ports: AccountPorts, organizationId: string): Promise<Session['organization']> {
  const found = await findOrganization(ports, organizationId);
  if (found === null) throw notFound('organisation');
  return shownOrganization(found);
}

/** With its owner invited. */
export async function foundOrganization(
  ports: AccountPorts,
  { name, ownerEmail, plan = ports.plan }: OrganizationInput,
  asking: Asking,
): Promise<Founded> {
  const [id, ownerId] = [ports.ids.next('org'), ports.ids.next('usr')];
  const expiresAt = toTimestamp(ports.clock.now() + invitationLifetimeMs);
  const email = await sealEmail(ports.vault, id, ownerId, ownerEmail);
  const owner = { id: ownerId, email, emailHash: hashEmail(ownerEmail, ports.pepper) };
  const command = { type: 'foundOrganization', id, name, plan, owner, expiresAt } as const;
  const { position } = await changeOrganization(ports, id, command, asking);
  const url = await invitationUrl(ports, id, { id: ownerId, expiresAt });
  sendInvitation(ports, ownerEmail, name, url);
  return { organization: await shownOf(ports, id), invitationUrl: url, position };
}

/** Rejects with `not_found`. */
export async function changeOrganizationItself(
  ports: AccountPorts,
  { organizationId, change }: ChangeOrganizationInput,
  asking: Asking,
): Promise<{ readonly organization: Session['organization']; readonly position: number | null }> {
  const command = { type: 'changeOrganization', ...change } as const;
  const { position } = await changeOrganization(ports, organizationId, command, asking);
  return { organization: await shownOf(ports, organizationId), position };
}
