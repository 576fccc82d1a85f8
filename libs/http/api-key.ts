/** API keys on requests: from the Authorization header to who is asking. The text of keys is in `#contracts/api-key`. */
import { timingSafeEqual } from 'node:crypto';
import { createLru } from '#concurrency/lru';
import { keyDocument, keysView, type KeyDocument, type Scope } from '#contracts/account';
import { hashApiKey, parseApiKey } from '#contracts/api-key';
import { membersView } from '#contracts/member';
import type { ReadStore } from '#read-store/read-store';
import type { Clock } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import { isWithin } from './client-address.js';

/** Who asks, once a key or a session is known to be good. */
export interface Principal {
  readonly organizationId: string;
  /** `key:<id>` or `user:<id>`: what events name as their author. */
  readonly actor: string;
  readonly scopes: readonly Scope[];
  /** Of the session, where it is one. */
  readonly sessionId?: string;
}

export type Verdict =
  { readonly ok: true; readonly principal: Principal } | { readonly ok: false; readonly error: AppError };

const missing = new AppError(
  'UNAUTHORIZED',
  'missing_api_key',
  'Send your API key as the header Authorization: Bearer <API_KEY>.',
);
const invalid = new AppError('UNAUTHORIZED', 'invalid_api_key', 'This API key is not valid.');
const expired = new AppError('UNAUTHORIZED', 'key_expired', 'This API key has expired.');

const elsewhere = new AppError(
  'FORBIDDEN',
  'address_not_allowed',
  'This API key may not be used from this address: see allowedCidrs.',
);

/** Hashing a key costs more than looking it up; keys that were found good lately are not hashed again. */
const cachedHashes = 1_000;

function sameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

export interface KeyVerifier {
  /** Looks the key up each time, so that a revoked one is refused at once. Rejects only where the read store does. */
  verify(authorization: string | undefined, address: string): Promise<Verdict>;
}

export function createKeyVerifier(readStore: ReadStore, pepper: Uint8Array, clock: Clock): KeyVerifier {
  const refused: Verdict = { ok: false, error: invalid };
  const hashes = createLru<string, string>(cachedHashes);

  const matches = (key: string, stored: string): boolean => {
    const hash = hashes.get(key) ?? hashApiKey(key, pepper);
    if (!sameText(hash, stored)) return false;
    hashes.set(key, hash);
    return true;
  };

  /** What an operator's keys may ends with their right, at once: revoking one after the other takes its time. */
  const hasOperator = async ({ operatorId, organizationId }: KeyDocument): Promise<boolean> => {
    if (operatorId === undefined) return true;
    const member = await readStore.get(membersView, operatorId);
    return member?.organizationId === organizationId && member.status === 'active' && member.operator;
  };

  return {
    async verify(authorization, address) {
      if (authorization === undefined || authorization === '') return { ok: false, error: missing };
      const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      const publicId = key === undefined ? undefined : parseApiKey(key)?.publicId;
      if (key === undefined || publicId === undefined) return refused;
      const known = await readStore.get(keysView, publicId);
      if (known === null || !matches(key, known.hash)) return refused;
      const { id, organizationId, scopes, expiresAt, revokedAt } = known;
      if (revokedAt !== null) return refused;
      if (expiresAt !== null && Date.parse(expiresAt) <= clock.now()) return { ok: false, error: expired };
      // A view that was built before keys had ranges holds none.
      if (!(await hasOperator(known))) return refused;
      const allowedCidrs = keyDocument.shape.allowedCidrs.parse(known.allowedCidrs);
      if (allowedCidrs.length > 0 && !isWithin(address, allowedCidrs)) return { ok: false, error: elsewhere };
      return { ok: true, principal: { organizationId, actor: `key:${id}`, scopes } };
    },
  };
}

/** Whether scopes reach what a route asks for: write and execute imply read, admin implies all of its organisation. */
export function allows(scopes: readonly Scope[], needed: Scope): boolean {
  if (needed === 'operator') return scopes.includes('operator');
  if (scopes.includes('admin') || scopes.includes(needed)) return true;
  return needed === 'read' && (scopes.includes('write') || scopes.includes('execute'));
}
