/** Whether the stored events are those that were written: at the start, before a migration, and for `meerkat audit`. */
import {
  acceptFaults,
  beginIntegrity,
  findFaults,
  readIntegrityRecord,
  type IntegrityRecord,
} from '#eventing/integrity';
import { OtherSecretKey } from '#eventing/key-ring';
import { createEventChain, type StoredHistory } from '#event-store/event-chain';
import type { EventArchive } from '#event-store/event-store';
import type { EventFault, FaultKind } from '#event-store/verify-events';
import { ConfigError } from '#runtime/config';
import type { Logger } from '#runtime/logger';

const whatHappened: Readonly<Record<FaultKind, string>> = {
  altered: 'is not what was written',
  unsigned: 'has no MAC, which every event there has',
  missing: 'is there, and what stood before it is gone',
};
/** So many are named in a sentence or a log; `audit verify` names them all. */
const faultsNamed = 5;

export const sayFault = ({ what, event: { stream, revision, type } }: EventFault): string =>
  `${stream}@${revision} (${type}) ${whatHappened[what]}`;

/** Said where fewer events are there than an orderly end left; null where none are missing at the end. */
export function sayEndGone(left: number | null, lastPosition: number | null): string | null {
  if (left === null || left <= (lastPosition ?? 0)) return null;
  return `the events end at position ${lastPosition ?? 0}, and went to ${left} when Meerkat was stopped: those in between are gone`;
}

/** Events are not as they were written: the process ends with exit code 65. */
export class EventsAltered extends Error {
  constructor(readonly faults: readonly EventFault[]) {
    const named = faults.slice(0, faultsNamed).map(sayFault).join('; ');
    const more = faults.length > faultsNamed ? '; and more' : '';
    super(
      `The stored events were changed behind Meerkat's back: ${named}${more}. ` +
        '`meerkat audit verify` names every fault. Restore the events from a backup, or, once you know how it came about, ' +
        'go on with what is there by `meerkat audit accept`.',
    );
    this.name = 'EventsAltered';
  }
}

async function recordOf(history: StoredHistory, secretKey: Uint8Array): Promise<IntegrityRecord> {
  try {
    return await readIntegrityRecord(history, secretKey);
  } catch (error) {
    throw error instanceof OtherSecretKey ? new ConfigError([error.message]) : error;
  }
}

export interface AuditedHistory {
  readonly history: StoredHistory;
  readonly lastPosition: number | null;
  readonly secretKey: Uint8Array;
  /** Only what stands behind this position. */
  readonly after?: number | null;
}

export interface AuditCounts {
  readonly events: number;
  /** Those with a MAC. */
  readonly signed: number;
}

/** Calls `found` for each fault. Rejects with `ConfigError` where the key is another one. */
export async function auditEvents(
  { history, lastPosition, secretKey, after = null }: AuditedHistory,
  found: (fault: EventFault) => void,
): Promise<AuditCounts> {
  const record = await recordOf(history, secretKey);
  let [events, signed] = [0, 0];
  const progress = (looked: AuditCounts): void => {
    events += looked.events;
    signed += looked.signed;
  };
  if (lastPosition === null) return { events, signed };
  for await (const fault of findFaults(history, record, { after, end: lastPosition, progress })) {
    found(fault);
  }
  return { events, signed };
}

/** Rejects with `EventsAltered`, or `ConfigError` where the key is another one. */
export async function refuseAltered(history: AuditedHistory): Promise<AuditCounts> {
  const faults: EventFault[] = [];
  const counts = await auditEvents(history, (fault) => {
    if (faults.length <= faultsNamed) faults.push(fault);
  });
  if (faults.length > 0) throw new EventsAltered(faults);
  return counts;
}

/** Rejects with `EventsAltered` where the record of the MACs itself was changed. */
export async function acceptAltered({
  eventStore,
  history,
  secretKey,
}: {
  readonly eventStore: EventArchive;
  /** Its own, looked at meanwhile. */
  readonly history: StoredHistory;
  readonly secretKey: Uint8Array;
}): Promise<readonly EventFault[]> {
  const chain = createEventChain(secretKey);
  const { signedAfter, faults: ofRecord } = await recordOf(history, secretKey);
  if (ofRecord.length > 0) throw new EventsAltered(ofRecord);
  const faults: EventFault[] = [];
  const lastPosition = await eventStore.lastPosition();
  await auditEvents({ history, lastPosition, secretKey }, (fault) => faults.push(fault));
  const at = new Date().toISOString();
  if (signedAfter === null) await beginIntegrity(eventStore, chain, at);
  await acceptFaults(eventStore, faults, at);
  return faults;
}

export interface StartCheck {
  readonly eventStore: EventArchive;
  readonly secretKey: Uint8Array;
  readonly logger: Logger;
  /** What is to be looked at: all, what stands behind a position, or nothing where the last process ended in order. */
  readonly extent: 'all' | 'none' | { readonly after: number };
  /** How far the events went when the last process ended in order; null: not known. */
  readonly left: number | null;
}

/** From the first start on every event has a MAC. Rejects with `EventsAltered`, or `ConfigError` where the key is another one. */
export async function checkEventsAtStart({ eventStore, secretKey, logger, extent, left }: StartCheck): Promise<void> {
  const chain = createEventChain(secretKey);
  const { stored: history } = eventStore;
  const end = await eventStore.lastPosition();
  const endGone = sayEndGone(left, end);
  // No reason to refuse: an older copy that an operator put back ends so, too. Nobody else must overlook it.
  if (endGone !== null) logger.error({ left, end }, endGone);
  const { signedAfter, faults } = await recordOf(history, secretKey);
  if (signedAfter === null) {
    // Of an older version; or its record was taken away, and then other MACs are there.
    const { events, signed } = await refuseAltered({ history, lastPosition: end, secretKey });
    await beginIntegrity(eventStore, chain, new Date().toISOString());
    if (events > signed) {
      logger.warn(
        { events: events - signed },
        'these events were stored without a MAC: nobody can tell whether they were changed; from here on each has one',
      );
    }
    return;
  }
  if (faults.length > 0) throw new EventsAltered(faults);
  if (extent === 'none' || end === null) return;
  const startedMs = performance.now();
  // A store put back from an older copy ends before the place that was reached.
  const after = extent === 'all' || extent.after > end ? null : extent.after;
  const counts = await refuseAltered({ history, lastPosition: end, secretKey, after });
  logger.info(
    { ...counts, tookMs: Math.round(performance.now() - startedMs) },
    'the stored events are as they were written',
  );
}
