/** Sessions of signed-in members: opened by e-mail and password, found by a token of which only a keyed hash is kept. */
import { randomBytes } from 'node:crypto';
import {
  memberDocument,
  membersView,
  type OpenedSession,
  type OpenSessionInput,
  type Session,
} from '#contracts/account';
import { hashSessionToken } from '#contracts/api-key';
import { foldStream } from '#eventing/fold-stream';
import { runCommand } from '#eventing/run-command';
import { toTimestamp } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import { organizationDecider, organizationStream, type Member } from './domain/organization.js';
import { sessionDecider, sessionStream } from './domain/session.js';
import { hashEmail, openEmail } from './member-email.js';
import { metadataOf, type AccountPorts } from './ports.js';

/** A week, then the password is asked for again. */
const lifetimeMs = 7 * 24 * 60 * 60_000;
const tokenBytes = 32;

interface Found {
  readonly member: Member;
  readonly organization: Session['organization'];
}

async function findMember(
  { eventStore }: AccountPorts,
  organizationId: string,
  memberId: string,
): Promise<Found | null> {
  const { state, recorded } = await foldStream(eventStore, organizationDecider, organizationStream(organizationId));
  if (state.status === 'none') return null;
  const member = state.members.find(({ id }) => id === memberId);
  const { id, name, plan } = state;
  return member === undefined
    ? null
    : { member, organization: { id, name, plan, createdAt: recorded[0]?.metadata.at ?? '' } };
}

/** The view names the stream; the member and the hash of the password are read from the stream itself. */
async function findByEmail(ports: AccountPorts, emailHash: string): Promise<Found | null> {
  const { documents } = await ports.readStore.page(membersView, {
    where: [{ field: 'emailHash', equals: emailHash }],
    sort: [],
    limit: 1,
    offset: 0,
    count: false,
  });
  const found = memberDocument.safeParse(documents[0]);
  return found.success ? findMember(ports, found.data.organizationId, found.data.id) : null;
}

async function describe(ports: AccountPorts, { member, organization }: Found, expiresAt: string): Promise<Session> {
  const email = await openEmail(ports.vault, organization.id, member.id, member.email);
  const { id, role } = member;
  return { account: { id, email, role }, organization, role, expiresAt };
}

/** Rejects with `wrong_credentials`, the same for an unknown address, `too_many_attempts` or `too_many_sign_ins`. */
export async function openSession(
  ports: AccountPorts,
  { email, password, address }: OpenSessionInput,
  requestId: string,
): Promise<{ readonly opened: OpenedSession; readonly position: number | null }> {
  const emailHash = hashEmail(email, ports.pepper);
  await ports.attempts.begin(emailHash, address);
  const { found, matching } = await check(ports, emailHash, password).catch(async (error: unknown) => {
    await ports.attempts.abandoned(emailHash, address);
    throw error;
  });
  if (found === null || !matching) {
    throw new AppError('UNAUTHORIZED', 'wrong_credentials', 'E-mail or password is wrong.');
  }
  await ports.attempts.succeeded(emailHash, address);
  const token = randomBytes(tokenBytes).toString('base64url');
  const id = hashSessionToken(token, ports.pepper);
  const expiresAt = toTimestamp(ports.clock.now() + lifetimeMs);
  const { member, organization } = found;
  const { position } = await runCommand(ports.eventStore, sessionDecider, {
    stream: sessionStream(id),
    command: {
      type: 'openSession',
      session: { id, userId: member.id, organizationId: organization.id, role: member.role, expiresAt },
    },
    commandId: ports.ids.next('evt'),
    metadata: metadataOf(ports, organization.id, { actor: `user:${member.id}`, requestId }),
    from: 'all',
  });
  return { opened: { ...(await describe(ports, found, expiresAt)), token }, position };
}

async function check(
  ports: AccountPorts,
  emailHash: string,
  password: string,
): Promise<{ readonly found: Found | null; readonly matching: boolean }> {
  const found = await findByEmail(ports, emailHash);
  return { found, matching: await ports.passwords.matches(password, found?.member.passwordHash ?? null) };
}

/** Rejects with `session_ended` for a token that is unknown, closed or expired, or whose member is gone. */
export async function showSession(ports: AccountPorts, token: string): Promise<Session> {
  const { state } = await foldStream(
    ports.eventStore,
    sessionDecider,
    sessionStream(hashSessionToken(token, ports.pepper)),
  );
  const open = state.status === 'open' && state.session.expiresAt > toTimestamp(ports.clock.now());
  const found = open ? await findMember(ports, state.session.organizationId, state.session.userId) : null;
  if (!open || found === null) throw new AppError('UNAUTHORIZED', 'session_ended', 'The session has ended; sign in.');
  return describe(ports, found, state.session.expiresAt);
}

/** Signs out; an unknown or closed session is closed already. Returns the position that a view has to reach. */
export async function closeSession(ports: AccountPorts, token: string, requestId: string): Promise<number | null> {
  const stream = sessionStream(hashSessionToken(token, ports.pepper));
  const { state } = await foldStream(ports.eventStore, sessionDecider, stream);
  if (state.status !== 'open') return null;
  const { organizationId, userId } = state.session;
  const { position } = await runCommand(ports.eventStore, sessionDecider, {
    stream,
    command: { type: 'closeSession' },
    commandId: ports.ids.next('evt'),
    metadata: metadataOf(ports, organizationId, { actor: `user:${userId}`, requestId }),
    from: 'all',
  });
  return position;
}
