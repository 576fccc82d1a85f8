/** The record of the events' MACs: since when every event has one, with which key, and which faults an operator has accepted. */
import { hash } from 'node:crypto';
import { integrityEvents, integrityStream, type IntegrityEvent } from '#contracts/integrity';
import {
  createEventChains,
  isSignedBy,
  type EventChain,
  type EventChains,
  type StoredEvent,
  type StoredHistory,
} from '#event-store/event-chain';
import type { EventStore } from '#event-store/event-store';
import type { SignedHead } from './audit-heads.js';
import { verifyEvents, type EventFault } from '#event-store/verify-events';
import { unavailable } from '#runtime/errors';
import { encodeEvent } from './codec.js';
import { keyRingOf, storedRecord } from './key-ring.js';

export interface IntegrityRecord {
  /** Every event behind this position has a MAC; null: that was not begun. */
  readonly signedAfter: number | null;
  readonly accepted: ReadonlySet<string>;
  /** In the record itself: nobody can accept these. */
  readonly faults: readonly EventFault[];
  /** What events may be signed by. */
  readonly chains: EventChains;
}

const [begun, erased, accepted] = integrityEvents;
const tellsFaults = (type: string): boolean => type === accepted.type || type === erased.type;
/** Faults in one event: some 100 KB. */
const faultsAtOnce = 500;

const digestOf = (event: StoredEvent): string => hash('sha256', JSON.stringify(event, Object.keys(event).toSorted()));
const keyOf = ({ what, digest }: { readonly what: string; readonly digest: string }): string => `${what}|${digest}`;

/** Marks an accepted fault that is a signed head of the audit, and no event. */
const headFault = 'head';

/** The MACs of signed heads whose entries an operator knows to be gone. */
export async function acceptedHeads(store: Pick<EventStore, 'read'>): Promise<ReadonlySet<string>> {
  const macs = new Set<string>();
  for await (const { type, data } of store.read(integrityStream)) {
    if (type !== accepted.type) continue;
    for (const { what, digest } of accepted.schema.safeParse(data).data?.faults ?? []) {
      if (what === headFault) macs.add(digest);
    }
  }
  return macs;
}

/** Rejects with `OtherSecretKey`. */
export async function readIntegrityRecord(history: StoredHistory, secretKey: Uint8Array): Promise<IntegrityRecord> {
  const record = await Array.fromAsync(storedRecord(history));
  const ring = keyRingOf(record, secretKey);
  const chains = createEventChains(ring.current, ring.former);
  let signedAfter: number | null = null;
  const known = new Set<string>();
  const faults: EventFault[] = [];
  let previous: string | null = null;
  for (const event of record) {
    if (event.type === begun.type) signedAfter ??= event.position;
    const isWhole = isSignedBy(chains, event, previous, history.hasDensePositions);
    previous = event.mac;
    if (!isWhole) faults.push({ what: event.mac === null ? 'unsigned' : 'altered', event });
    else if (tellsFaults(event.type)) {
      for (const fault of accepted.schema.safeParse(JSON.parse(event.data)).data?.faults ?? []) known.add(keyOf(fault));
    }
  }
  return { signedAfter, accepted: known, faults, chains };
}

export interface FaultSearch {
  /** Behind this position; null: in all events. */
  readonly after: number | null;
  readonly end: number;
  progress?(looked: { readonly events: number; readonly signed: number }): void;
}

/** Each fault that nobody has accepted. */
export async function* findFaults(
  history: StoredHistory,
  record: IntegrityRecord,
  search: FaultSearch,
): AsyncGenerator<EventFault> {
  // Where only the newest are looked at, those of the record are looked at all the same.
  if (search.after !== null) yield* record.faults;
  const toleratesGaps = [...record.accepted].some((key) => key.startsWith('missing|'));
  const options = { ...search, history, chains: record.chains, signedAfter: record.signedAfter, toleratesGaps };
  for await (const fault of verifyEvents(options)) {
    const isAccepted = record.accepted.has(keyOf({ what: fault.what, digest: digestOf(fault.event) }));
    // That something is gone before an event of the record may be accepted: the record itself is held against its MACs as a chain.
    const isOfRecord = fault.event.stream === integrityStream && fault.what !== 'missing';
    if (!isAccepted || isOfRecord) yield fault;
  }
}

async function append(store: EventStore, event: IntegrityEvent, at: string): Promise<void> {
  const id = crypto.randomUUID();
  const metadata = { organizationId: '', actor: 'system:integrity', requestId: id, causationId: null, at };
  const last = await store.readLast(integrityStream);
  const isBeginning = event.type === begun.type;
  // Of several processes that start at once, one begins.
  if (isBeginning && last !== null) return;
  const appended = await store.append(integrityStream, [encodeEvent(event, id, metadata)], last?.revision ?? 'none');
  if (appended.ok || isBeginning) return;
  throw unavailable('too_many_writers', 'Another process writes the record of the MACs; try again.');
}

/** What is put on record of the keys. */
export const recordKeys = append;

/** From here on every event must have a MAC. */
export function beginIntegrity(store: EventStore, { keyId }: EventChain, at: string): Promise<void> {
  return append(store, { type: 'integrity.begun', data: { keyId } }, at);
}

/** What these heads tell of is known not to be there. */
export async function acceptHeads(store: EventStore, heads: readonly SignedHead[], at: string): Promise<void> {
  for (let first = 0; first < heads.length; first += faultsAtOnce) {
    const faults = heads.slice(first, first + faultsAtOnce).map(({ organizationId, sequence, mac }) => {
      return { what: headFault, stream: organizationId, revision: sequence, type: 'audit head', digest: mac };
    });
    await append(store, { type: accepted.type, data: { faults } }, at);
  }
}

export const isHeadAccepted = (record: IntegrityRecord, { mac }: SignedHead): boolean =>
  record.accepted.has(keyOf({ what: headFault, digest: mac }));

/** What stands there now, or will once it is erased, is no fault. */
export async function acceptFaults(
  store: EventStore,
  faults: readonly EventFault[],
  at: string,
  type: 'integrity.accepted' | 'integrity.erased' = 'integrity.accepted',
): Promise<void> {
  for (let first = 0; first < faults.length; first += faultsAtOnce) {
    const some = faults.slice(first, first + faultsAtOnce).map(({ what, event }) => {
      const { stream, revision, type } = event;
      return { what, stream, revision, type, digest: digestOf(event) };
    });
    await append(store, { type, data: { faults: some } }, at);
  }
}
