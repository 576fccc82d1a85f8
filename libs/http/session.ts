/** Sessions on requests: from the browser's cookie to who is asking. */
import { hashSessionToken } from '#contracts/api-key';
import { sessionDocument, sessionsView, type Role, type Scope } from '#contracts/account';
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

export interface SessionVerifier {
  /** null: there is no cookie. Looks the session up each time, so that a closed one is refused at once. */
  verify(request: SessionRequest): Promise<Verdict | null>;
}

export function createSessionVerifier(
  readStore: ReadStore,
  pepper: Uint8Array,
  clock: Clock,
  publicUrl: string | null,
): SessionVerifier {
  return {
    async verify({ method, headers: { cookie, origin, host } }) {
      const token = tokenOfCookie(cookie);
      if (token === null || token === '') return null;
      const found = sessionDocument.safeParse(await readStore.get(sessionsView, hashSessionToken(token, pepper)));
      if (!found.success || found.data.expiresAt <= toTimestamp(clock.now())) return { ok: false, error: ended };
      if (!readingMethods.includes(method) && !isOwnOrigin(origin, host, publicUrl)) {
        return { ok: false, error: foreignOrigin };
      }
      const { organizationId, userId, role } = found.data;
      const principal = { organizationId, actor: `user:${userId}`, scopes: scopesOfRole[role] };
      return { ok: true, principal };
    },
  };
}
