/** Creates API keys: for the gateway, for the setup, and for the command line where no server runs. */
import { randomBytes } from 'node:crypto';
import type { ApiKey, CreatedKey, KeyInput, Scope } from '#contracts/account';
import { createApiKey, hashApiKey, parseApiKey } from '#contracts/api-key';
import { runCommand } from '#eventing/run-command';
import { toTimestamp } from '#runtime/clock';
import { reject } from '#runtime/errors';
import { keyDecider, keyStream } from './domain/api-key.js';
import { operatorBehind } from './owner-rank.js';
import { readInstallation } from './read-installation.js';
import { metadataOf, type Asking, type KeyPorts } from './ports.js';

export interface NewKey {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** RFC 3339, any offset. */
  readonly expiresAt: string | null;
  /** Where it may be used from; none: from everywhere. */
  readonly allowedCidrs?: readonly string[];
  /** The key itself, well-formed. */
  readonly text: string;
}

/** Stores the keyed hash of a key, and a sealed copy beside. Recording the same key again changes nothing. Rejects with `key_exists`, `missing_scope`. */
export async function recordKey(
  ports: KeyPorts,
  { text, allowedCidrs = [], ...fields }: NewKey,
  asking: Asking,
): Promise<{ readonly key: ApiKey; readonly revoked: boolean; readonly position: number | null }> {
  const publicId = parseApiKey(text)?.publicId;
  if (publicId === undefined) throw new Error('a key of our own making is not well-formed');
  const metadata = metadataOf(ports, fields.organizationId, asking);
  const isOperators = fields.scopes.includes('operator');
  const operatorId = isOperators ? await operatorBehind(ports, { ...asking, ...fields }) : null;
  const key = {
    ...fields,
    scopes: [...fields.scopes],
    expiresAt: fields.expiresAt === null ? null : toTimestamp(Date.parse(fields.expiresAt)),
    publicId,
    allowedCidrs: [...allowedCidrs],
  };
  const { state, position } = await runCommand(ports.eventStore, keyDecider, {
    stream: keyStream(fields.id),
    command: {
      type: 'createKey',
      key: { ...key, hash: hashApiKey(text, ports.pepper), ...(operatorId !== null && { operatorId }) },
      createdBy: asking.actor,
      at: metadata.at,
    },
    commandId: ports.ids.next('evt'),
    metadata,
    from: 'all',
  });
  if (position !== null) await ports.keyCopies.keep(fields.organizationId, fields.id, text);
  return {
    key: { ...key, createdAt: metadata.at, createdBy: asking.actor, revokedAt: null },
    revoked: state.status === 'revoked',
    position,
  };
}

/** A new key of an organisation; the answer alone holds its text. Rejects with `expires_in_past`. */
export async function createKey(
  ports: KeyPorts,
  organizationId: string,
  { name, scopes, expiresAt, allowedCidrs }: KeyInput,
  asking: Asking,
): Promise<{ readonly created: CreatedKey; readonly position: number | null }> {
  const text = createApiKey(randomBytes);
  const id = ports.ids.next('key');
  const fields = { id, organizationId, name, scopes, expiresAt, allowedCidrs, text };
  const { key, position } = await recordKey(ports, fields, asking);
  return { created: { ...key, key: text }, position };
}

/**
 * Creates a key with the stores alone, for `meerkat keys create` while no server runs; it is good on a server that starts
 * later. Rejects with `not_set_up` where there is no organisation yet.
 */
export async function createKeyOffline(
  ports: KeyPorts,
  { name, scopes }: { readonly name: string; readonly scopes: readonly Scope[] },
): Promise<CreatedKey> {
  const { installation, organization } = await readInstallation(ports.eventStore);
  if (installation.claim === null || organization.status === 'none') {
    throw reject('not_set_up', 'This instance has no organisation yet: set it up first.');
  }
  const { created } = await createKey(
    ports,
    organization.id,
    { name, scopes: [...scopes], expiresAt: null, allowedCidrs: [] },
    { actor: 'system:cli', requestId: ports.ids.next('req') },
  );
  return created;
}
