/** Holds every stored event against its MAC: what was changed without the key is found and named. */
import { createLru } from '#concurrency/lru';
import {
  isSignedBeginning,
  isSignedBy,
  type EventChains,
  type StoredEvent,
  type StoredHistory,
} from './event-chain.js';

/**
 * - `altered`: it is not what was written there: changed, moved from elsewhere, or made by somebody without the key.
 * - `unsigned`: it has no MAC where every event has one.
 * - `missing`: the event before it is gone, of its stream or, where no such is known, of the store.
 */
export type FaultKind = 'altered' | 'unsigned' | 'missing';

export interface EventFault {
  readonly what: FaultKind;
  readonly event: StoredEvent;
}

export interface VerifyEventsOptions {
  readonly history: StoredHistory;
  readonly chains: EventChains;
  /** Behind this position every event has a MAC; null: each that stands behind one with a MAC in its stream. */
  readonly signedAfter: number | null;
  /** Behind this position; null: from the first event on. */
  readonly after?: number | null;
  readonly end: number;
  /** An operator has accepted that events are missing: how many, nobody knows any more. */
  readonly toleratesGaps?: boolean;
  /** What was looked at since the last call. */
  progress?(looked: { readonly events: number; readonly signed: number }): void;
}

interface Link {
  readonly revision: number;
  readonly mac: string | null;
}

/** Before the first event of a stream. */
const noEvent: Link = { revision: -1, mac: null };

/** Streams that were met lately; of others the event before is read again. */
const streamsKept = 50_000;

/** Yields each fault, in order of position. Memory is bounded, however many events and streams there are. */
export async function* verifyEvents(options: VerifyEventsOptions): AsyncGenerator<EventFault> {
  const { history, chains, signedAfter, after = null, end, toleratesGaps = false, progress } = options;
  const links = createLru<string, Link>(streamsKept);
  let position = after ?? 0;
  /** Positions without an event: behind which every event has a MAC, and before. */
  const gaps = { signed: 0, older: 0, first: null as StoredEvent | null };

  /** The signed beginning of a stream whose first events were dropped. */
  const beginningOf = async (stream: string): Promise<Link | null> => {
    const beginning = await history.beginning(stream);
    if (beginning === null || !isSignedBeginning(chains, beginning)) return null;
    return { revision: beginning.revision - 1, mac: beginning.link };
  };

  /** The event before this one in its stream, where that was met lately: nearly always, and then nothing is waited for. */
  const knownBefore = ({ stream, revision }: StoredEvent): Link | undefined => {
    if (revision === 0) return noEvent;
    const known = links.get(stream);
    return known?.revision === revision - 1 ? known : undefined;
  };

  /** The same; null where there should be one and is none; `dropped`: so was this one. */
  const findBefore = async ({ stream, revision }: StoredEvent): Promise<Link | 'dropped' | null> => {
    const found = await history.at(stream, revision - 1);
    if (found !== null) return found;
    const beginning = await beginningOf(stream);
    if (beginning === null || revision - 1 > beginning.revision) return null;
    return revision - 1 === beginning.revision ? beginning : 'dropped';
  };

  /** Events that were dropped by who has the key; what else is not there was taken away. */
  const dropped = async (): Promise<number> => {
    let count = 0;
    for await (const beginning of history.beginnings()) {
      if (isSignedBeginning(chains, beginning)) count += beginning.revision;
    }
    return count;
  };

  const droppedAtFirst = await dropped();

  const faultOf = (event: StoredEvent, before: Link | 'dropped' | null, previousPosition: number): FaultKind | null => {
    const { mac } = event;
    // An engine that cleans up later hands over what was dropped; where it goes at once, somebody has put it back.
    if (before === 'dropped') return history.hasDensePositions ? 'altered' : null;
    const isToBeSigned = signedAfter !== null && event.position > signedAfter;
    if (mac === null) {
      if (isToBeSigned || typeof before?.mac === 'string') return 'unsigned';
      return before === null && isToBeSigned ? 'missing' : null;
    }
    // Its own MAC cannot be told to be right or wrong without the one before it.
    if (before === null) return 'missing';
    if (!isSignedBy(chains, event, before.mac, history.hasDensePositions)) return 'altered';
    if (!history.hasDensePositions || event.position === previousPosition + 1) return null;
    if (droppedAtFirst === 0) return 'missing';
    gaps.first ??= event;
    return null;
  };

  for await (const events of history.read(after, end)) {
    let signed = 0;
    for (const event of events) {
      const before = knownBefore(event) ?? (await findBefore(event));
      const what = faultOf(event, before, position);
      if (what !== null) yield { what, event };
      if (event.mac !== null) signed += 1;
      gaps[event.mac === null ? 'older' : 'signed'] += event.position - position - 1;
      links.set(event.stream, { revision: event.revision, mac: event.mac });
      ({ position } = event);
    }
    progress?.({ events: events.length, signed });
  }
  if (gaps.first === null || toleratesGaps) return;
  // More may have been dropped meanwhile. A check that begins somewhere knows that no more than all of them can be missing.
  const all = await dropped();
  if (gaps.signed + Math.min(gaps.older, all) > all) yield { what: 'missing', event: gaps.first };
}
