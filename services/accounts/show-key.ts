/** Reads one API key from its stream, by its id: the view finds keys by their public id. */
import type { ApiKey } from '#contracts/account';
import { decodeEvent } from '#eventing/codec';
import { foldStream } from '#eventing/fold-stream';
import { notFound } from '#runtime/errors';
import { keyDecider, keyStream, type KeyEvent } from './domain/api-key.js';
import type { KeyPorts } from './ports.js';

/** Rejects with `not_found`, for a revoked key and another organisation's too. */
export async function showKey({ eventStore }: KeyPorts, organizationId: string, keyId: string): Promise<ApiKey> {
  const { state, recorded } = await foldStream(eventStore, keyDecider, keyStream(keyId));
  if (state.status !== 'active' || state.key.organizationId !== organizationId) throw notFound('API key');
  const { hash: _, operatorId: _operator, ...key } = state.key;
  const [made] = recorded;
  const event = made === undefined ? null : decodeEvent<KeyEvent>(made);
  const createdBy = event?.type === 'key.created' ? event.data.createdBy : null;
  return { ...key, createdAt: made?.metadata.at ?? '', createdBy, revokedAt: null };
}
