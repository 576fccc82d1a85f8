/** Reads one API key from its stream, by its id: the view finds keys by their public id. */
import type { ApiKey } from '#contracts/account';
import { foldStream } from '#eventing/fold-stream';
import { notFound } from '#runtime/errors';
import { keyDecider, keyStream } from './domain/api-key.js';
import type { KeyPorts } from './ports.js';

/** Rejects with `not_found`, for a revoked key and another organisation's too. */
export async function showKey({ eventStore }: KeyPorts, organizationId: string, keyId: string): Promise<ApiKey> {
  const { state, recorded } = await foldStream(eventStore, keyDecider, keyStream(keyId));
  if (state.status !== 'active' || state.key.organizationId !== organizationId) throw notFound('API key');
  const { hash: _, ...key } = state.key;
  return { ...key, createdAt: recorded[0]?.metadata.at ?? '', revokedAt: null };
}
