/** Links for a new password, for who may open the events anyway: made from the events alone, also beside a running server. */
import { pepperOf } from '#contracts/api-key';
import type { StoredEvent } from '#event-store/event-chain';
import type { EventMetadata, RecordedEvent } from '#event-store/event-store';
import { decodeEvent } from '#eventing/codec';
import { systemClock } from '#runtime/clock';
import { ConfigError, type Config } from '#runtime/config';
import { AppError } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';
import { silentLogger } from '#runtime/logger';
import { resetUrl } from '../accounts/change-password.js';
import {
  organizationDecider,
  organizationStream,
  type Organization,
  type OrganizationEvent,
} from '../accounts/domain/organization.js';
import { hashEmail } from '../accounts/member-email.js';
import type { ResetLink } from './cli/product.js';
import { keyRingAt, openHistory } from './composition.js';
import { knownSecretKey } from './data-folder.js';
import { linkBaseOf } from './left-address.js';

const organizationPrefix = organizationStream('');

function recorded({ data, metadata, ...event }: StoredEvent): RecordedEvent {
  return { ...event, data: JSON.parse(data) as JsonObject, metadata: JSON.parse(metadata) as EventMetadata };
}

interface KnownInstallation {
  readonly organizations: readonly Organization[];
  readonly pepper: Uint8Array;
}

async function installationOf(config: Config, secretKey: Uint8Array): Promise<KnownInstallation> {
  const { history, lastPosition, close } = await openHistory(config, silentLogger);
  const states = new Map<string, Organization>();
  try {
    const pepper = pepperOf((await keyRingAt(history, secretKey)).first);
    if (lastPosition === null) return { organizations: [], pepper };
    for await (const batch of history.read(null, lastPosition)) {
      for (const event of batch.filter(({ stream }) => stream.startsWith(organizationPrefix))) {
        const before = states.get(event.stream) ?? organizationDecider.initial;
        states.set(event.stream, organizationDecider.evolve(before, decodeEvent<OrganizationEvent>(recorded(event))));
      }
    }
    return { organizations: [...states.values()], pepper };
  } finally {
    await close();
  }
}

/** One for each account of the address. Rejects with `not_found`, and with `ConfigError` where the key is missing. */
export async function printResetLinks(config: Config, email: string): Promise<readonly ResetLink[]> {
  const secretKey = knownSecretKey(config);
  if (secretKey === null) {
    throw new ConfigError(['SECRET_KEY: must be set to that of the installation; links are made with it.']);
  }
  const { organizations, pepper } = await installationOf(config, secretKey);
  const emailHash = hashEmail(email, pepper);
  const baseUrl = linkBaseOf(config);
  const links = organizations.flatMap((organization) => {
    if (organization.status === 'none') return [];
    const { id, name, plan, rateLimit, members } = organization;
    const member = members.find((one) => one.emailHash === emailHash && one.status === 'active');
    if (member === undefined) return [];
    const found = { member, members, organization: { id, name, plan, rateLimit, createdAt: '' } };
    return [
      {
        organization: name,
        url: resetUrl({ linkPepper: pepperOf(secretKey) }, baseUrl, found, {
          kind: 'printed-reset',
          nowMs: systemClock.now(),
        }),
      },
    ];
  });
  if (links.length > 0) return links;
  throw new AppError('NOT_FOUND', 'not_found', 'No account has this e-mail address.');
}
