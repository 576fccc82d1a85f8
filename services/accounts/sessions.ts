/**
 * Sessions of signed-in members: found by a token of which only a keyed hash is kept. A token is good for an hour of use; then
 * another takes its place, until the session is a week old. Unused it ends after a day. So use needs no record of its own.
 */
import { randomBytes } from 'node:crypto';
import type { OpenedSession, OpenSessionInput, Session } from '#contracts/account';
import { hashSessionToken } from '#contracts/api-key';
import { foldStream } from '#eventing/fold-stream';
import { runCommand } from '#eventing/run-command';
import { toTimestamp } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import type { Attempt } from './attempts.js';
import { sessionDecider, sessionStream, type Session as SessionState, type SessionCommand } from './domain/session.js';
import { findByEmail, findMember, type FoundMember } from './find-member.js';
import { hashEmail, openEmail } from './member-email.js';
import { metadataOf, type AccountPorts, type Asking } from './ports.js';
import { checkCode } from './second-factor.js';

const lifetimeMs = 7 * 24 * 60 * 60_000;
const idleMs = 24 * 60 * 60_000;
/** Requests that were under way with the token before. */
const overlapMs = 60_000;
const tokenBytes = 32;

export interface Opened {
  readonly opened: OpenedSession;
  /** That the view of sessions has to reach. */
  readonly position: number | null;
}

export const sessionEnded = (): AppError =>
  new AppError('UNAUTHORIZED', 'session_ended', 'The session has ended; sign in.');

const wrongCredentials = (): AppError =>
  new AppError('UNAUTHORIZED', 'wrong_credentials', 'E-mail, password or code is wrong.');

type Times = Pick<Session, 'expiresAt' | 'idleExpiresAt'>;

async function describe(
  ports: AccountPorts,
  { member, organization }: Pick<FoundMember, 'member' | 'organization'>,
  { expiresAt, idleExpiresAt }: Times,
): Promise<Session> {
  const email = await openEmail(ports.vault, organization.id, member.id, member.email);
  const { id, role, operator, secondFactor } = member;
  const account = { id, email, role, operator, secondFactor: secondFactor.state };
  return { account, organization, role, expiresAt, idleExpiresAt };
}

function changeSession(
  ports: AccountPorts,
  organizationId: string,
  id: string,
  command: SessionCommand,
  asking: Asking,
): Promise<{ readonly position: number | null }> {
  return runCommand(ports.eventStore, sessionDecider, {
    stream: sessionStream(id),
    command,
    commandId: ports.ids.next('evt'),
    metadata: metadataOf(ports, organizationId, asking),
    from: 'all',
  });
}

interface Begun {
  readonly requestId: string;
  /** The end of the session that it goes on for; without it a new one begins. */
  readonly expiresAt?: string;
  readonly provider?: string | null;
}

/** A session of a member who has proved who they are. */
export async function beginSession(
  ports: AccountPorts,
  found: FoundMember,
  { requestId, expiresAt: end, provider = null }: Begun,
): Promise<Opened> {
  const nowMs = ports.clock.now();
  const expiresAt = end ?? toTimestamp(nowMs + lifetimeMs);
  const idleEnd = toTimestamp(nowMs + idleMs);
  const idleExpiresAt = idleEnd < expiresAt ? idleEnd : expiresAt;
  const token = randomBytes(tokenBytes).toString('base64url');
  const id = hashSessionToken(token, ports.pepper);
  const { member, organization } = found;
  const { id: userId, role, epoch } = member;
  const session = { id, userId, organizationId: organization.id, role, expiresAt, idleExpiresAt, epoch, provider };
  const command = { type: 'openSession', session } as const;
  const asking = { actor: `user:${userId}`, requestId };
  const { position } = await changeSession(ports, organization.id, id, command, asking);
  return { opened: { ...(await describe(ports, found, { expiresAt, idleExpiresAt })), token }, position };
}

/** Who has this address and password, of whichever organisation; null: nobody. */
async function findByPassword(
  ports: AccountPorts,
  { password, organizationId }: OpenSessionInput,
  emailHash: string,
  mayTry: Attempt['mayTry'],
): Promise<FoundMember | null> {
  const alike = (await findByEmail(ports, emailHash)).filter(
    ({ member }) => member.passwordHash !== null && mayTry(member.id),
  );
  const places = await ports.passwords.matching(
    password,
    alike.map(({ member }) => member.passwordHash ?? ''),
  );
  const found = places.flatMap((place) => alike[place] ?? []);
  return found.find(({ organization }) => organizationId === undefined || organization.id === organizationId) ?? null;
}

/**
 * Rejects with `wrong_credentials`, the same for an unknown address and a wrong code, `second_factor_required`,
 * `too_many_attempts` or `too_many_sign_ins`.
 */
export async function openSession(ports: AccountPorts, input: OpenSessionInput, requestId: string): Promise<Opened> {
  const { address, code } = input;
  const emailHash = hashEmail(input.email, ports.pepper);
  const attempt = await ports.attempts.begin(emailHash, address, async () =>
    (await findByEmail(ports, emailHash)).map(({ member }) => member.id),
  );
  const giveBack = async (error: unknown): Promise<never> => {
    await attempt.abandoned();
    throw error;
  };
  const found = await findByPassword(ports, input, emailHash, attempt.mayTry).catch(giveBack);
  if (found === null) throw wrongCredentials();
  if (found.member.secondFactor.state === 'on') {
    if (code === undefined) {
      const message = 'Send code too: of the app, or a recovery code.';
      return giveBack(new AppError('UNAUTHORIZED', 'second_factor_required', message));
    }
    if (!(await checkCode(ports, found, code, requestId).catch(giveBack))) throw wrongCredentials();
  }
  await attempt.succeeded(found.member.id);
  return beginSession(ports, found, { requestId });
}

export const sessionIdOf = ({ pepper }: Pick<AccountPorts, 'pepper'>, { token }: { readonly token: string }): string =>
  hashSessionToken(token, pepper);

interface Current {
  readonly session: Extract<SessionState, { status: 'open' }>['session'];
  readonly found: FoundMember;
}

/** Whether nobody has signed out by a later token: it is one session, and the earlier tokens end with it. */
async function goesOn(ports: AccountPorts, successorId: string): Promise<boolean> {
  const { state } = await foldStream(ports.eventStore, sessionDecider, sessionStream(successorId));
  return state.status === 'superseded' ? goesOn(ports, state.successorId) : state.status === 'open';
}

/** The open session of the token, and its member. Rejects with `session_ended`. */
export async function currentSession(ports: AccountPorts, token: string): Promise<Current> {
  const stream = sessionStream(hashSessionToken(token, ports.pepper));
  const { state } = await foldStream(ports.eventStore, sessionDecider, stream);
  if (state.status === 'none' || state.status === 'closed') throw sessionEnded();
  const { session } = state;
  const ends = [session.expiresAt, session.idleExpiresAt, state.status === 'superseded' ? state.endsAt : null];
  const now = toTimestamp(ports.clock.now());
  if (ends.some((end) => end !== null && end <= now)) throw sessionEnded();
  if (state.status === 'superseded' && !(await goesOn(ports, state.successorId))) throw sessionEnded();
  const found = await findMember(ports, session.organizationId, session.userId);
  if (found?.member.status !== 'active' || found.member.epoch !== session.epoch) throw sessionEnded();
  return { session, found };
}

/** Rejects with `session_ended` for a token that is unknown, closed or expired, or whose member is gone. */
export async function showSession(ports: AccountPorts, token: string): Promise<Session> {
  const { session, found } = await currentSession(ports, token);
  return describe(ports, found, session);
}

/** Another token for the same session, which ends when it would have. Rejects with `session_ended` or `session_superseded`. */
export async function rotateSession(ports: AccountPorts, token: string, requestId: string): Promise<Opened> {
  const { session, found } = await currentSession(ports, token);
  const { expiresAt, provider } = session;
  const next = await beginSession(ports, found, { requestId, expiresAt, provider });
  const asking = { actor: `user:${session.userId}`, requestId };
  const successorId = hashSessionToken(next.opened.token, ports.pepper);
  const endsAt = toTimestamp(ports.clock.now() + overlapMs);
  try {
    await changeSession(
      ports,
      session.organizationId,
      session.id,
      { type: 'supersedeSession', successorId, endsAt },
      asking,
    );
    return next;
  } catch (error) {
    // Nobody will hold its token.
    await changeSession(ports, session.organizationId, successorId, { type: 'closeSession' }, asking);
    throw error;
  }
}

/** Signs out; an unknown or closed session is closed already. Returns the position that a view has to reach. */
export function closeSession(ports: AccountPorts, token: string, requestId: string): Promise<number | null> {
  return closeById(ports, hashSessionToken(token, ports.pepper), requestId);
}

async function closeById(ports: AccountPorts, id: string, requestId: string): Promise<number | null> {
  const { state } = await foldStream(ports.eventStore, sessionDecider, sessionStream(id));
  if (state.status === 'none' || state.status === 'closed') return null;
  const { organizationId, userId } = state.session;
  const asking = { actor: `user:${userId}`, requestId };
  const { position } = await changeSession(ports, organizationId, id, { type: 'closeSession' }, asking);
  // It is one session, whichever of its tokens came.
  const later = state.status === 'superseded' ? await closeById(ports, state.successorId, requestId) : null;
  return later ?? position;
}
