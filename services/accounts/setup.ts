/**
 * Sets an installation up: one organisation, its owner, a first key. Here by the one-time link.
 *
 * Three streams are appended to, in an order that a crash between any two of them cannot spoil:
 * 1. `installation` is claimed. The claim holds ids only. A later setup, at once or after a crash, goes on with them.
 * 2. `org-<id>` of the claim is begun with organisation and owner in one append, which must find no such stream. This
 *    decides whose setup it is: of two at once one gets through. Before it nothing of the input is
 *    stored, so the next try may bring another address and password.
 * 3. `key-<id>`, an id that the organisation names, is begun in the same way. A setup that stopped before it goes on
 *    here, for the owner's address and password together with the setup token; then the token is dead.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SetupAnswer, SetupInput } from '#contracts/account';
import { createApiKey } from '#contracts/api-key';
import { runCommand } from '#eventing/run-command';
import { AppError } from '#runtime/errors';
import type { SetupPositions } from './await-account-views.js';
import { recordKey } from './create-key.js';
import {
  installationDecider,
  installationStream,
  type Installation,
  type InstallationCommand,
} from './domain/installation.js';
import { organizationDecider, organizationStream, type Organization } from './domain/organization.js';
import { hashEmail, sealEmail } from './member-email.js';
import { metadataOf, type AccountPorts, type Asking } from './ports.js';
import { readInstallation } from './read-installation.js';

type Active = Extract<Organization, { status: 'active' }>;

interface Owner {
  readonly organization: string;
  readonly email: string;
  readonly password: string;
}

export interface SetupOutcome {
  readonly answer: SetupAnswer;
  readonly positions: SetupPositions;
}

/** Streams of the installation itself belong to no organisation. */
const installationWide = '';

const alreadySetUp = (): AppError =>
  new AppError('NOT_FOUND', 'already_set_up', 'This instance is set up already: sign in instead.');

/** Rejects as the decider and the event store do. */
export async function changeInstallation(
  ports: AccountPorts,
  command: InstallationCommand,
  asking: Asking,
): Promise<Installation> {
  const { state } = await runCommand(ports.eventStore, installationDecider, {
    stream: installationStream,
    command,
    // Never made of the request's id: two clients may send the same one, and the store would take their appends for one.
    commandId: ports.ids.next('evt'),
    metadata: metadataOf(ports, installationWide, asking),
    from: 'all',
  });
  return state;
}

/**
 * The token is made of a stored salt and the pepper. So it outlives a restart (the printed link keeps working), every
 * process derives the same, a wiped installation gets another, and what is stored gives nothing away.
 */
function setupToken(salt: string, pepper: Uint8Array): string {
  return createHmac('sha256', pepper).update(`setup|${salt}`).digest('base64url').slice(0, 32);
}

function sameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** The token to print at start; null where the instance is set up. */
export async function openSetup(ports: AccountPorts): Promise<string | null> {
  const { installation, complete } = await readInstallation(ports.eventStore);
  if (complete) return null;
  const asking = { actor: 'system:accounts', requestId: ports.ids.next('req') };
  const command = { type: 'openInstallation', salt: randomBytes(16).toString('base64url') } as const;
  const salt = installation.salt ?? (await changeInstallation(ports, command, asking)).salt;
  return salt === null ? null : setupToken(salt, ports.pepper);
}

/** Steps 1 and 2. Rejects with `organization_exists` where another setup was faster. */
export async function createOrganization(
  ports: AccountPorts,
  owner: Owner,
  {
    withKey,
    requestId,
    actor,
  }: { readonly withKey: boolean; readonly requestId: string; readonly actor: string | null },
): Promise<{ readonly organization: Active; readonly createdAt: string; readonly position: number }> {
  const passwordHash = await ports.passwords.hash(owner.password);
  const { claim } = await changeInstallation(
    ports,
    { type: 'claimInstallation', organizationId: ports.ids.next('org'), ownerId: ports.ids.next('usr') },
    { actor: actor ?? 'system:accounts', requestId },
  );
  if (claim === null) throw new Error('a claimed installation has no claim');
  const { organizationId, ownerId } = claim;
  const metadata = metadataOf(ports, organizationId, { actor: actor ?? `user:${ownerId}`, requestId });
  const { state, position } = await runCommand(ports.eventStore, organizationDecider, {
    stream: organizationStream(organizationId),
    command: {
      type: 'createOrganization',
      id: organizationId,
      name: owner.organization,
      plan: ports.plan,
      setupKeyId: withKey ? ports.ids.next('key') : null,
      owner: {
        id: ownerId,
        email: await sealEmail(ports.vault, organizationId, ownerId, owner.email),
        emailHash: hashEmail(owner.email, ports.pepper),
        passwordHash,
      },
    },
    commandId: ports.ids.next('evt'),
    metadata,
    from: 'all',
  });
  if (state.status === 'none' || position === null) throw new Error('the created organisation is missing');
  return { organization: state, createdAt: metadata.at, position };
}

/** By the link. Rejects with `invalid_setup_token` (UNAUTHORIZED), and with `already_set_up` (NOT_FOUND) from then on. */
export async function setUpByToken(ports: AccountPorts, input: SetupInput, requestId: string): Promise<SetupOutcome> {
  const found = await readInstallation(ports.eventStore);
  if (found.complete) throw alreadySetUp();
  const { salt } = found.installation;
  if (salt === null || !sameText(input.setupToken, setupToken(salt, ports.pepper))) {
    throw new AppError(
      'UNAUTHORIZED',
      'invalid_setup_token',
      'The setup token is wrong: take the link that is printed at start.',
    );
  }
  const begun =
    found.organization.status === 'active'
      ? { organization: found.organization, createdAt: found.organizationCreatedAt ?? '', position: null }
      : await createOrganization(ports, input, { withKey: true, requestId, actor: null }).catch(lostTo);
  const owner = begun.organization.members.find(({ role }) => role === 'owner');
  const { setupKeyId } = begun.organization;
  if (owner === undefined || setupKeyId === null) throw alreadySetUp();
  if (found.organization.status === 'active' && !(await isOwner(ports, owner, input))) throw alreadySetUp();
  const text = createApiKey(randomBytes);
  const key = await recordKey(
    ports,
    { id: setupKeyId, organizationId: begun.organization.id, name: 'Setup', scopes: ['admin'], expiresAt: null, text },
    { actor: `user:${owner.id}`, requestId },
  ).catch(lostTo);
  const { id, name, plan } = begun.organization;
  return {
    answer: {
      organization: { id, name, plan, rateLimit: null, createdAt: begun.createdAt },
      account: { id: owner.id, email: input.email, role: owner.role, operator: owner.operator, secondFactor: 'off' },
      apiKey: text,
    },
    positions: { organization: begun.position, key: key.position },
  };
}

async function isOwner(
  ports: AccountPorts,
  owner: Active['members'][number],
  { email, password }: SetupInput,
): Promise<boolean> {
  const isOwnAddress = owner.emailHash === hashEmail(email, ports.pepper);
  return ports.passwords.matches(password, isOwnAddress ? owner.passwordHash : null);
}

/** Another setup came first: for this one the instance is set up. */
function lostTo(error: unknown): never {
  const lost = error instanceof AppError && (error.reason === 'organization_exists' || error.reason === 'key_exists');
  throw lost ? alreadySetUp() : error;
}
