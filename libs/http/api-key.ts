/** API keys on requests: from the Authorization header to who is asking. The text of keys is in `#contracts/api-key`. */
import { z } from 'zod';
import { keyDocument, keysView, type Scope } from '#contracts/account';
import { apiKeyMatches, parseApiKey } from '#contracts/api-key';
import type { ReadStore } from '#read-store/read-store';
import type { Clock } from '#runtime/clock';
import { AppError } from '#runtime/errors';

/** The instance's pepper (Buffer), provided by the composition. */
export const KEY_PEPPER = Symbol('KeyPepper');

/** Who asks, once a key is known to be good. */
export interface Principal {
  readonly organizationId: string;
  /** `key:<id>`: what events name as their author. */
  readonly actor: string;
  readonly scopes: readonly Scope[];
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

/** What of a key's document decides; read leniently, so that fields added later do not lock everybody out. */
const storedKey = z.object({
  id: keyDocument.shape.id,
  organizationId: keyDocument.shape.organizationId,
  scopes: keyDocument.shape.scopes,
  hash: z.string(),
  expiresAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
});

export interface KeyVerifier {
  /** Looks the key up each time, so that a revoked one is refused at once. Rejects only where the read store does. */
  verify(authorization: string | undefined): Promise<Verdict>;
}

export function createKeyVerifier(readStore: ReadStore, pepper: Uint8Array, clock: Clock): KeyVerifier {
  const refused: Verdict = { ok: false, error: invalid };
  return {
    async verify(authorization) {
      if (authorization === undefined || authorization === '') return { ok: false, error: missing };
      const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      const publicId = key === undefined ? undefined : parseApiKey(key)?.publicId;
      if (key === undefined || publicId === undefined) return refused;
      const parsed = storedKey.safeParse(await readStore.get(keysView, publicId));
      if (!parsed.success || !apiKeyMatches(key, parsed.data.hash, pepper)) return refused;
      const { id, organizationId, scopes, expiresAt, revokedAt } = parsed.data;
      if (revokedAt !== null) return refused;
      if (expiresAt !== null && Date.parse(expiresAt) <= clock.now()) return { ok: false, error: expired };
      return { ok: true, principal: { organizationId, actor: `key:${id}`, scopes } };
    },
  };
}

/** Whether scopes reach what a route asks for: write and execute imply read, admin implies all. */
export function allows(scopes: readonly Scope[], needed: Scope): boolean {
  if (scopes.includes('admin') || scopes.includes(needed)) return true;
  return needed === 'read' && (scopes.includes('write') || scopes.includes('execute'));
}
