/** The record of the events' MACs: since when every event has one, with which key, and which faults an operator has accepted. */
import { hash } from 'node:crypto';
import { integrityEvents, integrityStream, type IntegrityEvent } from '#contracts/integrity';
import type { EventChain, StoredEvent, StoredHistory } from '#event-store/event-chain';
import type { EventStore } from '#event-store/event-store';
import { verifyEvents, type EventFault } from '#event-store/verify-events';
import { unavailable } from '#runtime/errors';
import { encodeEvent } from './codec.js';

/** The MACs of the store were made with another key: none of them can be checked with this one. */
export class OtherSecretKey extends Error {
  constructor() {
    super('SECRET_KEY: is not the one that the stored events were signed with; set the one that was used before.');
    this.name = 'OtherSecretKey';
  }
}

export interface IntegrityRecord {
  /** Every event behind this position has a MAC; null: that was not begun. */
  readonly signedAfter: number | null;
  readonly accepted: ReadonlySet<string>;
  /** In the record itself: nobody can accept these. */
  readonly faults: readonly EventFault[];
}

const [begun, erased, accepted] = integrityEvents;
const tellsFaults = (type: string): boolean => type === accepted.type || type === erased.type;
/** Faults in one event: some 100 KB. */
const faultsAtOnce = 500;

const digestOf = (event: StoredEvent): string => hash('sha256', JSON.stringify(event, Object.keys(event).toSorted()));
const keyOf = ({ what, digest }: { readonly what: string; readonly digest: string }): string => `${what}|${digest}`;

async function* recordOf(history: StoredHistory): AsyncGenerator<StoredEvent> {
  for (let revision = 0; ; revision += 1) {
    const event = await history.at(integrityStream, revision);
    if (event === null) return;
    yield event;
  }
}

/** Rejects with `OtherSecretKey`. */
export async function readIntegrityRecord(history: StoredHistory, chain: EventChain): Promise<IntegrityRecord> {
  let signedAfter: number | null = null;
  const known = new Set<string>();
  const faults: EventFault[] = [];
  let previous: string | null = null;
  for await (const event of recordOf(history)) {
    const data: unknown = JSON.parse(event.data);
    if (event.type === begun.type) {
      if (begun.schema.safeParse(data).data?.keyId !== chain.keyId) throw new OtherSecretKey();
      signedAfter ??= event.position;
    }
    const position = history.hasDensePositions ? event.position : null;
    const isWhole = event.mac === chain.macOf({ ...event, position }, previous);
    previous = event.mac;
    if (!isWhole) faults.push({ what: event.mac === null ? 'unsigned' : 'altered', event });
    else if (tellsFaults(event.type)) {
      for (const fault of accepted.schema.safeParse(data).data?.faults ?? []) known.add(keyOf(fault));
    }
  }
  return { signedAfter, accepted: known, faults };
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
  chain: EventChain,
  record: IntegrityRecord,
  search: FaultSearch,
): AsyncGenerator<EventFault> {
  // Where only the newest are looked at, those of the record are looked at all the same.
  if (search.after !== null) yield* record.faults;
  const toleratesGaps = [...record.accepted].some((key) => key.startsWith('missing|'));
  const options = { ...search, history, chain, signedAfter: record.signedAfter, toleratesGaps };
  for await (const fault of verifyEvents(options)) {
    const isAccepted = record.accepted.has(keyOf({ what: fault.what, digest: digestOf(fault.event) }));
    if (!isAccepted || fault.event.stream === integrityStream) yield fault;
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

/** From here on every event must have a MAC. */
export function beginIntegrity(store: EventStore, { keyId }: EventChain, at: string): Promise<void> {
  return append(store, { type: 'integrity.begun', data: { keyId } }, at);
}

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
