/** Another key in the place of one, with the same name, scopes and limits; for a time both are good. */
import { randomBytes } from 'node:crypto';
import type { RequestContext } from '#bus/bus';
import type { CreatedKey, RotateKeyInput } from '#contracts/account';
import { createApiKey } from '#contracts/api-key';
import { foldStream } from '#eventing/fold-stream';
import { runCommand } from '#eventing/run-command';
import { toTimestamp } from '#runtime/clock';
import { AppError, notFound } from '#runtime/errors';
import { recordKey } from './create-key.js';
import { keyDecider, keyStream } from './domain/api-key.js';
import { metadataOf, type AccountPorts } from './ports.js';
import { revokeKey } from './revoke-key.js';

/**
 * The successor is made first: a crash in between leaves two good keys, of which one is known to nobody, and never none. Rejects
 * with `not_found`, `missing_scope`, `key_rotated` or `key_expired`.
 */
export async function rotateKey(
  ports: AccountPorts,
  { keyId, overlapSeconds, isOperator }: RotateKeyInput,
  { organizationId, ...asking }: RequestContext,
): Promise<{ readonly created: CreatedKey; readonly position: number | null }> {
  const { state } = await foldStream(ports.eventStore, keyDecider, keyStream(keyId));
  if (state.status !== 'active' || state.key.organizationId !== organizationId) throw notFound('API key');
  if (state.key.scopes.includes('operator') && !isOperator) {
    throw new AppError('FORBIDDEN', 'missing_scope', 'Only an operator may have another key with the scope operator.');
  }
  const nowMs = ports.clock.now();
  const successorId = ports.ids.next('key');
  const endsAt = toTimestamp(nowMs + overlapSeconds * 1_000);
  const rotate = { type: 'rotateKey', organizationId, successorId, endsAt, at: toTimestamp(nowMs) } as const;
  // What will be refused makes no key.
  keyDecider.decide(rotate, state);
  const text = createApiKey(randomBytes);
  const { name, scopes, expiresAt, allowedCidrs } = state.key;
  const made = await recordKey(
    ports,
    { id: successorId, organizationId, name, scopes, expiresAt, allowedCidrs, text },
    asking,
  );
  try {
    const { position } = await runCommand(ports.eventStore, keyDecider, {
      stream: keyStream(keyId),
      command: rotate,
      commandId: ports.ids.next('evt'),
      metadata: metadataOf(ports, organizationId, asking),
      from: 'all',
    });
    const ended = overlapSeconds === 0 ? await revokeKey(ports, organizationId, keyId, asking) : position;
    return { created: { ...made.key, key: text }, position: ended };
  } catch (error) {
    if (error instanceof AppError && error.code === 'VALIDATION_ERROR')
      await revokeKey(ports, organizationId, successorId, asking);
    throw error;
  }
}
