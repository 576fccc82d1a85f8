/** `meerkat audit`: the stored events held against their MACs, beside a server or without one. */
import type { EventFault } from '#event-store/verify-events';
import { ConfigError, type Config } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import type { Audited, AuditFault } from './cli/product.js';
import { openEventStore, openHistory } from './composition.js';
import { knownSecretKey } from './data-folder.js';
import { acceptAltered, auditEvents, sayEndGone, sayFault } from './integrity.js';
import { forgetVerified, positionLeft } from './verified-mark.js';

export function secretKeyOf(config: Config): Uint8Array {
  const key = knownSecretKey(config);
  if (key !== null) return key;
  throw new ConfigError(['SECRET_KEY: must be set to that of the installation; without it nothing can be checked.']);
}

export function toAuditFault(fault: EventFault): AuditFault {
  const { stream, revision, position, type } = fault.event;
  return { what: fault.what, stream, revision, position, type, text: sayFault(fault) };
}

export async function verifyStoredEvents(config: Config, found: (fault: AuditFault) => void): Promise<Audited> {
  const secretKey = secretKeyOf(config);
  const { close, ...opened } = await openHistory(config, silentLogger);
  try {
    const counts = await auditEvents({ ...opened, secretKey }, (fault) => found(toAuditFault(fault)));
    const left = positionLeft(config, secretKey);
    const text = sayEndGone(left, opened.lastPosition);
    // No event is left that could be named.
    if (left !== null && text !== null)
      found({ what: 'missing', stream: '', revision: -1, position: left, type: '', text });
    return counts;
  } finally {
    await close();
  }
}

export async function acceptStoredEvents(config: Config): Promise<readonly AuditFault[]> {
  const secretKey = secretKeyOf(config);
  const eventStore = await openEventStore(config, silentLogger, { checked: true, secretKey });
  try {
    const accepted = (await acceptAltered(eventStore, secretKey)).map(toAuditFault);
    forgetVerified(config);
    return accepted;
  } finally {
    await eventStore.close();
  }
}
