/** Sets an installation up from OWNER_EMAIL, OWNER_PASSWORD, OWNER_ORGANIZATION and OWNER_API_KEY. */
import { accountEmail, newPassword, setupInput } from '#contracts/account';
import { hashApiKey, parseApiKey } from '#contracts/api-key';
import type { Config } from '#runtime/config';
import { AppError } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import type { SetupPositions } from './await-account-views.js';
import { recordKey } from './create-key.js';
import { keyStream } from './domain/api-key.js';
import { hashEmail } from './member-email.js';
import type { AccountPorts, Asking } from './ports.js';
import { readInstallation } from './read-installation.js';
import { revokeKey } from './revoke-key.js';
import { changeInstallation, createOrganization } from './setup.js';

/** What is wrong with the OWNER_* settings, a sentence each that names the variable; empty where all is well. Pure. */
export function checkOwnerSettings({ owner }: Pick<Config, 'owner'>): string[] {
  if (owner === null) return [];
  const faults: string[] = [];
  if (!accountEmail.safeParse(owner.email).success) {
    const form = 'an e-mail address such as owner@example.com, in plain letters: s for ſ, and none of full width';
    faults.push(`OWNER_EMAIL: must be ${form}.`);
  }
  if (!newPassword.safeParse(owner.password).success) {
    faults.push('OWNER_PASSWORD: must have 12 to 1,000 characters.');
  }
  if (!setupInput.shape.organization.safeParse(owner.organization).success) {
    faults.push('OWNER_ORGANIZATION: must be a name of 1 to 200 characters, without control characters.');
  }
  if (owner.apiKey !== null && parseApiKey(owner.apiKey) === null) {
    faults.push('OWNER_API_KEY: is not a well-formed key: `mk_`, 8 characters, `_`, 40 characters, a checksum of 6.');
  }
  return faults;
}

/**
 * By the environment, at every start; what is there already stays. E-mail and password count at the first start only
 * (the account is the owner's from then on); another OWNER_API_KEY becomes a key and the one before it is revoked, an
 * unset one changes nothing.
 */
export async function setUpByEnvironment(
  ports: AccountPorts,
  owner: NonNullable<Config['owner']>,
  logger: Logger,
): Promise<SetupPositions> {
  const asking = { actor: 'system:environment', requestId: ports.ids.next('req') };
  let position: number | null = null;
  if ((await readInstallation(ports.eventStore)).organization.status === 'none') {
    try {
      const created = await createOrganization(ports, owner, { withKey: false, ...asking });
      position = created.position;
      logger.info({ organizationId: created.organization.id }, 'the instance was set up from OWNER_EMAIL');
    } catch (error) {
      // Another process of the same installation started at the same time.
      if (!(error instanceof AppError) || error.reason !== 'organization_exists') throw error;
    }
  }
  const { organization: found } = await readInstallation(ports.eventStore);
  if (found.status === 'none') throw new Error('the created organisation is missing');
  if (!found.members.some(({ emailHash }) => emailHash === hashEmail(owner.email, ports.pepper))) {
    logger.warn({}, 'OWNER_EMAIL is not a member here: the instance was set up with another address, which stays');
  }
  return {
    organization: position,
    key: owner.apiKey === null ? null : await applyOwnerKey(ports, found.id, owner.apiKey, asking, logger),
  };
}

/** The choice is recorded first; what follows from it is done again at each start until it is done. */
async function applyOwnerKey(
  ports: AccountPorts,
  organizationId: string,
  text: string,
  asking: Asking,
  logger: Logger,
): Promise<number> {
  const { ownerKey, formerOwnerKeyIds } = await changeInstallation(
    ports,
    { type: 'chooseOwnerKey', keyId: ports.ids.next('key'), hash: hashApiKey(text, ports.pepper) },
    asking,
  );
  if (ownerKey === null) throw new Error('the chosen key is missing');
  const { keyId: id } = ownerKey;
  const { revoked, position } = await recordKey(
    ports,
    { id, organizationId, name: 'OWNER_API_KEY', scopes: ['admin'], expiresAt: null, text },
    asking,
  );
  if (revoked) logger.warn({ keyId: id }, 'the key in OWNER_API_KEY was revoked and is refused: set another');
  const positions = [position ?? (await lastPosition(ports, id))];
  for (const formerId of formerOwnerKeyIds) {
    // A key that was chosen, but not created because the process died, has nothing to revoke.
    if ((await lastPosition(ports, formerId)) === 0) continue;
    positions.push(await revokeKey(ports, organizationId, formerId, asking));
  }
  return Math.max(...positions);
}

async function lastPosition({ eventStore }: AccountPorts, keyId: string): Promise<number> {
  return (await eventStore.readLast(keyStream(keyId)))?.position ?? 0;
}
