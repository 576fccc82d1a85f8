/** Revokes API keys. */
import { runCommand } from '#eventing/run-command';
import { keyDecider, keyStream } from './domain/api-key.js';
import { metadataOf, type Asking, type KeyPorts } from './ports.js';

/**
 * Revoked for good; again changes nothing. Returns the position that a view has to reach. Rejects with
 * `not_found`, for another organisation's key too.
 */
export async function revokeKey(
  ports: KeyPorts,
  organizationId: string,
  keyId: string,
  asking: Asking,
): Promise<number> {
  const stream = keyStream(keyId);
  const { position } = await runCommand(ports.eventStore, keyDecider, {
    stream,
    command: { type: 'revokeKey', organizationId },
    commandId: ports.ids.next('evt'),
    metadata: metadataOf(ports, organizationId, asking),
    from: 'all',
  });
  await ports.keyCopies.drop(keyId);
  return position ?? (await ports.eventStore.readLast(stream))?.position ?? 0;
}
