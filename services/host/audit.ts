/** `meerkat audit`: the stored events held against their MACs, beside a server or without one. */
import { createAuditSigner } from '#eventing/audit-heads';
import { acceptHeads, isHeadAccepted, readIntegrityRecord } from '#eventing/integrity';
import type { StoredHistory } from '#event-store/event-chain';
import type { EventFault } from '#event-store/verify-events';
import { ConfigError, type Config } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import type { AuditedLog, AuditFault } from './cli/product.js';
import { keyRingAt, openEventStore, openHistory } from './composition.js';
import { auditHeadsFile, knownSecretKey } from './data-folder.js';
import { acceptAltered, auditEvents, sayEndGone, sayFault } from './integrity.js';
import { createChains, headsIn, watched } from './signed-heads.js';
import { checkWholeNext, endDoubts, positionLeft } from './verified-mark.js';

export function secretKeyOf(config: Config): Uint8Array {
  const key = knownSecretKey(config);
  if (key !== null) return key;
  throw new ConfigError(['SECRET_KEY: must be set to that of the installation; without it nothing can be checked.']);
}

export function toAuditFault(fault: EventFault): AuditFault {
  const { stream, revision, position, type } = fault.event;
  return { what: fault.what, stream, revision, position, type, text: sayFault(fault) };
}

/** The heads in the data folder, and the chains as they come by. What is in it was written before the events are looked at. */
async function chainsOf(config: Config, history: StoredHistory, secretKey: Uint8Array) {
  const { current, former } = await keyRingAt(history, secretKey);
  const keys = [current, ...former.map(({ key }) => key)] as const;
  const isFile = config.eventStoreUrl === 'sqlite';
  const heads = isFile ? await headsIn(auditHeadsFile(config), createAuditSigner(...keys), false) : [];
  const record = await readIntegrityRecord(history, secretKey);
  const chains = createChains(heads.filter((head) => !isHeadAccepted(record, head)));
  return { keys, chains, history: heads.length === 0 ? history : watched(history, (rows) => chains.add(rows)) };
}

function headFaults(chains: ReturnType<typeof createChains>, position: number): readonly AuditFault[] {
  return chains.ended().flatMap(({ organizationId, brokenAt }) => {
    if (brokenAt === undefined) return [];
    const what = brokenAt.reason === 'missing' ? 'missing' : 'altered';
    return [{ what, stream: '', revision: -1, position, type: '', text: `${organizationId}: ${brokenAt.message}` }];
  });
}

export async function verifyStoredEvents(config: Config, found: (fault: AuditFault) => void): Promise<AuditedLog> {
  const secretKey = secretKeyOf(config);
  const { close, newest, ...opened } = await openHistory(config, silentLogger);
  try {
    const { keys, chains, history } = await chainsOf(config, opened.history, secretKey);
    // Up to the end that a head read above may tell of.
    const lastPosition = await newest();
    let isAltered = false;
    const counts = await auditEvents({ history, lastPosition, secretKey }, (fault) => {
      isAltered ||= fault.what === 'altered';
      found(toAuditFault(fault));
    });
    const left = positionLeft(config, secretKey);
    const text = sayEndGone(left, lastPosition);
    // No event is left that could be named.
    if (left !== null && text !== null)
      found({ what: 'missing', stream: '', revision: -1, position: left, type: '', text });
    for (const fault of headFaults(chains, lastPosition ?? 0)) {
      // What is named above already shows in the heads, too.
      if (fault.what === 'missing' ? text === null : !isAltered) found(fault);
    }
    return { ...counts, warnings: endDoubts(config, keys, lastPosition) };
  } finally {
    await close();
  }
}

export async function acceptStoredEvents(config: Config): Promise<readonly AuditFault[]> {
  const secretKey = secretKeyOf(config);
  const eventStore = await openEventStore(config, silentLogger, { checked: true, secretKey });
  try {
    const { chains, history } = await chainsOf(config, eventStore.stored, secretKey);
    const accepted = (await acceptAltered({ eventStore, history, secretKey })).map(toAuditFault);
    const ofHeads = headFaults(chains, (await eventStore.lastPosition()) ?? 0);
    await acceptHeads(eventStore, chains.unmet(), new Date().toISOString());
    // Where the engine goes on counting behind what was cut off, what was just written stands behind a gap.
    if (ofHeads.length > 0) await acceptAltered({ eventStore, history: eventStore.stored, secretKey });
    checkWholeNext(config, secretKey);
    return [...accepted, ...ofHeads];
  } finally {
    await eventStore.close();
  }
}
