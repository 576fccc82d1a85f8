/** Signing in by an OpenID provider: on the way there, and back as a member whom it vouches for. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { accountEmail } from '#contracts/account';
import type { BegunProviderSignIn, FinishProviderSignIn } from '#contracts/member';
import type { OidcProvider } from '#runtime/oidc-settings';
import { toTimestamp } from '#runtime/clock';
import { AppError, notFound } from '#runtime/errors';
import { changeOrganization } from '../change-organization.js';
import type { MemberCommand } from '../domain/member.js';
import { findByEmail, findBySubject, findMember, homeOrganizationId, type FoundMember } from '../find-member.js';
import { hashEmail, sealEmail } from '../member-email.js';
import type { AccountPorts } from '../ports.js';
import { beginSession, type Opened } from '../sessions.js';
import type { Claims, SignInProvider } from './provider.js';
import { roleOf } from './roles.js';

/** Of the time that somebody takes at the provider. */
const ticketMs = 600_000;

const ticketContent = z.object({
  id: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
  expiresAtMs: z.number(),
});
type Ticket = z.infer<typeof ticketContent>;

const macOf = (body: string, pepper: Uint8Array): string =>
  createHmac('sha256', pepper).update(`oidc-ticket|${body}`).digest('base64url');

function writeTicket(ticket: Ticket, pepper: Uint8Array): string {
  const body = Buffer.from(JSON.stringify(ticket)).toString('base64url');
  return `${body}.${macOf(body, pepper)}`;
}

/** null: nobody made it like that, or its time is over. */
function readTicket(text: string, id: string, pepper: Uint8Array, nowMs: number): Ticket | null {
  const [body = '', mac = ''] = text.split('.');
  const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(body, pepper))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const ticket = ticketContent.parse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')));
  return ticket.id === id && ticket.expiresAtMs > nowMs ? ticket : null;
}

function providerOf(ports: AccountPorts, id: string): SignInProvider {
  const provider = ports.providers.get(id);
  if (provider === undefined) throw notFound('sign-in provider');
  return provider;
}

const callbackUrl = async ({ address }: AccountPorts, id: string): Promise<string> =>
  `${await address.baseUrl()}/api/oidc/${id}/callback`;

/** Rejects with `not_found` or `provider_unavailable`. */
export async function beginProviderSignIn(
  ports: AccountPorts,
  { id, to }: { readonly id: string; readonly to: string },
): Promise<BegunProviderSignIn> {
  const { client } = providerOf(ports, id);
  const { url, secrets } = await client.begin(await callbackUrl(ports, id));
  const ticket = writeTicket({ ...secrets, id, to, expiresAtMs: ports.clock.now() + ticketMs }, ports.linkPepper);
  return { url, ticket };
}

/** Rejects with `sign_in_expired`, `provider_refused`, `provider_unavailable`, `no_member` or `not_found`. */
export async function finishProviderSignIn(
  ports: AccountPorts,
  { id, query, ticket: text }: FinishProviderSignIn,
  requestId: string,
): Promise<Opened & { readonly organization: number | null; readonly to: string }> {
  const { client, settings } = providerOf(ports, id);
  const ticket = readTicket(text, id, ports.linkPepper, ports.clock.now());
  if (ticket === null) {
    throw new AppError(
      'UNAUTHORIZED',
      'sign_in_expired',
      'This sign-in was not begun in this browser, or long ago; begin again.',
    );
  }
  const callback = new URL(await callbackUrl(ports, id));
  callback.search = query;
  const claims = await client.finish(callback, ticket).catch((error: unknown) => {
    const reason = error instanceof AppError ? error.reason : 'defect';
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    ports.logger.warn({ provider: id, requestId, reason, cause }, 'a sign-in by a provider did not come to its end');
    throw error;
  });
  const { found, position } = await memberOf(ports, settings, claims, requestId);
  return { ...(await beginSession(ports, found, { requestId, provider: id })), organization: position, to: ticket.to };
}

/** An address counts where the provider says that it looked, and where it is one that a member could have been invited by. */
function verifiedEmail({ email, email_verified: isVerified }: Claims): string | null {
  const { data = null } = accountEmail.safeParse(email);
  return isVerified === true || isVerified === 'true' ? data : null;
}

async function memberOf(
  ports: AccountPorts,
  settings: OidcProvider,
  claims: Claims,
  requestId: string,
): Promise<{ readonly found: FoundMember; readonly position: number | null }> {
  const { pepper } = ports;
  const subjectHash = createHmac('sha256', pepper).update(`oidc|${claims.iss}|${claims.sub}`).digest('base64url');
  const role = roleOf(claims, settings.groups);
  const email = verifiedEmail(claims);
  const known =
    (await findKnown(ports, { subjectHash, email })) ??
    (email === null ? null : await signUp(ports, settings, { email, role }, requestId)) ??
    (email === null ? null : await findElsewhere(ports, email));
  if (known === null) {
    throw new AppError(
      'FORBIDDEN',
      'no_member',
      'You are not a member here: ask somebody who administers it, or open its link if you have an invitation.',
    );
  }
  const { id: memberId } = known.member;
  const { id: organizationId } = known.organization;
  let position: number | null = null;
  const change = async (command: MemberCommand): Promise<void> => {
    const done = await changeOrganization(ports, organizationId, command, { actor: `user:${memberId}`, requestId });
    position = done.position ?? position;
  };
  if (known.member.status === 'invited') {
    const at = toTimestamp(ports.clock.now());
    await change({ type: 'joinMember', memberId, passwordHash: null, at, expiresAt: null });
  }
  await change({ type: 'linkMember', memberId, provider: settings.id, subjectHash });
  if (role !== null && role !== known.member.role) {
    await change({ type: 'changeMember', memberId, role, keepsOperator: false, byOwner: true }).catch(
      (error: unknown) => {
        // The organisation keeps its owner, whatever the groups say.
        if (!(error instanceof AppError) || error.reason !== 'last_owner') throw error;
        ports.logger.warn({ memberId, requestId }, 'the last owner keeps the role, against the groups of the provider');
      },
    );
  }
  const found = await findMember(ports, organizationId, memberId);
  if (found === null) throw notFound('member');
  return { found, position };
}

const isActive = ({ member }: FoundMember): boolean => member.status === 'active';

/**
 * The provider belongs to the first organisation, whose accounts and invitations come first. Another organisation has invited
 * whichever address it liked, and has the link itself: only who was signed in there by the provider is known there.
 */
async function findKnown(
  ports: AccountPorts,
  { subjectHash, email }: { readonly subjectHash: string; readonly email: string | null },
): Promise<FoundMember | null> {
  const bySubject = (await findBySubject(ports, subjectHash)).filter(isActive);
  const byEmail = email === null ? [] : await findByEmail(ports, hashEmail(email, ports.pepper));
  const homeId = await homeOrganizationId(ports);
  const isHere = ({ organization }: FoundMember): boolean => organization.id === homeId;
  const now = toTimestamp(ports.clock.now());
  const isOpen = ({ member }: FoundMember): boolean => member.expiresAt !== null && member.expiresAt > now;
  const here = byEmail.filter(isHere);
  return bySubject.find(isHere) ?? here.find(isActive) ?? here.find(isOpen) ?? bySubject[0] ?? null;
}

/** Who opened an account in another organisation by its link, where the first has no place for them. */
async function findElsewhere(ports: AccountPorts, email: string): Promise<FoundMember | null> {
  return (await findByEmail(ports, hashEmail(email, ports.pepper))).find(isActive) ?? null;
}

/** null: not here. With groups in the settings, who is in none of them is none of ours. */
async function signUp(
  ports: AccountPorts,
  { signUp: isOn, groups }: OidcProvider,
  { email, role }: { readonly email: string; readonly role: ReturnType<typeof roleOf> },
  requestId: string,
): Promise<FoundMember | null> {
  const organizationId = isOn && (groups.length === 0 || role !== null) ? await homeOrganizationId(ports) : null;
  if (organizationId === null) return null;
  const id = ports.ids.next('usr');
  const sealed = await sealEmail(ports.vault, organizationId, id, email);
  const member = { id, email: sealed, emailHash: hashEmail(email, ports.pepper), role: role ?? 'viewer' };
  const command = { type: 'signUpMember', member, at: toTimestamp(ports.clock.now()) } as const;
  await changeOrganization(ports, organizationId, command, { actor: `user:${id}`, requestId });
  return findMember(ports, organizationId, id);
}
