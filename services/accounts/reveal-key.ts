/** Shows an owner a key again, after their password; each time is on record before it is shown. */
import type { RequestContext } from '#bus/bus';
import type { RevealKeyInput } from '#contracts/account';
import { foldStream } from '#eventing/fold-stream';
import { runCommand } from '#eventing/run-command';
import { AppError, notFound } from '#runtime/errors';
import { keyDecider, keyStream } from './domain/api-key.js';
import { askingMember, checkPasswordAgain } from './own-account.js';
import { metadataOf, type AccountPorts } from './ports.js';

/** Rejects with `reveal_disabled`, `owner_required`, `wrong_password`, `not_found` or `no_copy`. */
export async function revealKey(
  ports: AccountPorts,
  { keyId, password, address }: RevealKeyInput,
  context: RequestContext,
): Promise<{ readonly key: string }> {
  if (ports.keysShowOnce) {
    throw new AppError(
      'FORBIDDEN',
      'reveal_disabled',
      'Keys are shown once here (KEYS_SHOW_ONCE): rotate the key instead.',
    );
  }
  const { organizationId } = context;
  const found = await askingMember(ports, context);
  if (found.member.role !== 'owner') {
    throw new AppError('FORBIDDEN', 'owner_required', 'Only an owner may see a key again.');
  }
  const { state } = await foldStream(ports.eventStore, keyDecider, keyStream(keyId));
  if (state.status !== 'active' || state.key.organizationId !== organizationId) throw notFound('API key');
  if (state.key.scopes.includes('operator') && !found.member.operator) {
    throw new AppError('FORBIDDEN', 'missing_scope', 'Only an operator may see a key with the scope operator.');
  }
  await checkPasswordAgain(ports, found, { password, address, field: 'password' });
  const key = await ports.keyCopies.open(organizationId, keyId);
  if (key === null) {
    throw new AppError(
      'NOT_FOUND',
      'no_copy',
      'No copy of this key was kept: rotate the key to have one that you know.',
    );
  }
  await runCommand(ports.eventStore, keyDecider, {
    stream: keyStream(keyId),
    command: { type: 'revealKey', organizationId },
    commandId: ports.ids.next('evt'),
    metadata: metadataOf(ports, organizationId, context),
    from: 'all',
  });
  return { key };
}
