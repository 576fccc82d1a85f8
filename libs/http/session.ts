/** Sessions on requests: from the browser's cookie to who is asking. */
import { hashSessionToken } from '#contracts/api-key';
import { sessionDocument, sessionsView, type Role, type Scope, type SessionDocument } from '#contracts/account';
import { memberDocument, membersView } from '#contracts/member';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import type { Verdict } from './api-key.js';
import { isOwnOrigin, tokenOfCookie } from './session-cookie.js';

const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  owner: ['admin'],
  admin: ['admin'],
  editor: ['read', 'write', 'execute'],
  viewer: ['read'],
};

/** What does not write needs no proof of where it comes from: another site cannot read the answer. */
const readingMethods: readonly string[] = ['GET', 'HEAD'];

/** A token that was used this long is followed by another. */
const rotatedAfterMs = 3_600_000;
/** Of one session, a week long; more are a fault. */
const mostSuccessors = 400;

const ended = new AppError('UNAUTHORIZED', 'session_ended', 'The session has ended; sign in.');

/** A page of another site makes the browser send the cookie too. */
export const foreignOrigin = new AppError(
  'FORBIDDEN',
  'foreign_origin',
  'This request comes from a page of another site.',
);

/** What of a request says who is signed in, and from where the request comes. */
export interface SessionRequest {
  readonly method: string;
  readonly headers: {
    readonly cookie?: string | undefined;
    readonly origin?: string | undefined;
    readonly host?: string | undefined;
  };
}

export interface VerifiedSession {
  readonly verdict: Verdict;
  /** Set where another token is to take the place of this one. */
  readonly agedToken: string | null;
}

export interface SessionVerifier {
  /** null: there is no cookie. Looks session and member up each time, so that a closed one is refused at once. */
  verify(request: SessionRequest): Promise<VerifiedSession | null>;
  /** Whether the session goes on, under this token or another: for answers that outlast a token. */
  goesOn(sessionId: string, needed: (scopes: readonly Scope[]) => boolean): Promise<boolean>;
}

export function createSessionVerifier(
  readStore: ReadStore,
  pepper: Uint8Array,
  clock: Clock,
  publicUrl: string | null,
): SessionVerifier {
  /** null: it has ended. */
  const look = async (id: string): Promise<SessionDocument | null> => {
    const found = sessionDocument.safeParse(await readStore.get(sessionsView, id));
    return found.success ? found.data : null;
  };

  /** Under the last of its tokens; null: it was ended by one of them, and so by all. */
  const latest = async (session: SessionDocument): Promise<SessionDocument | null> => {
    let last: SessionDocument | null = session;
    for (let step = 0; step < mostSuccessors && last?.successorId != null; step += 1) {
      last = await look(last.successorId);
    }
    return last;
  };

  const isOver = ({ expiresAt, idleExpiresAt }: SessionDocument): boolean => {
    const now = toTimestamp(clock.now());
    return expiresAt <= now || (idleExpiresAt !== null && idleExpiresAt <= now);
  };

  /** What its member may now; null: the member is gone, or has changed the password since. */
  const scopesOf = async ({ userId, organizationId, epoch }: SessionDocument): Promise<readonly Scope[] | null> => {
    const found = memberDocument.safeParse(await readStore.get(membersView, userId));
    if (!found.success || found.data.status !== 'active') return null;
    const { role, operator } = found.data;
    if (found.data.organizationId !== organizationId || found.data.epoch !== epoch) return null;
    return operator ? [...scopesOfRole[role], 'operator'] : scopesOfRole[role];
  };

  const refused = (error: AppError): VerifiedSession => ({ verdict: { ok: false, error }, agedToken: null });

  return {
    async verify({ method, headers: { cookie, origin, host } }) {
      const token = tokenOfCookie(cookie);
      if (token === null || token === '') return null;
      const sessionId = hashSessionToken(token, pepper);
      const session = await look(sessionId);
      const isOpen = session !== null && !isOver(session) && (await latest(session)) !== null;
      const scopes = isOpen ? await scopesOf(session) : null;
      if (session === null || scopes === null) return refused(ended);
      if (!readingMethods.includes(method) && !isOwnOrigin(origin, host, publicUrl)) return refused(foreignOrigin);
      const { organizationId, userId, createdAt, successorId } = session;
      const isAged = successorId === null && Date.parse(createdAt) + rotatedAfterMs <= clock.now();
      const principal = { organizationId, actor: `user:${userId}`, scopes, sessionId };
      return { verdict: { ok: true, principal }, agedToken: isAged ? token : null };
    },

    async goesOn(sessionId, needed) {
      const known = await look(sessionId);
      const session = known === null ? null : await latest(known);
      const scopes = session === null || isOver(session) ? null : await scopesOf(session);
      return scopes !== null && needed(scopes);
    },
  };
}
