/** Holds every stored event against its MAC: what was changed without the key is found and named. */
import { createLru } from '#concurrency/lru';
import { isSameMac, type EventChain, type StoredEvent, type StoredHistory } from './event-chain.js';

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
  readonly chain: EventChain;
  /** Behind this position every event has a MAC; null: each that stands behind one with a MAC in its stream. */
  readonly signedAfter: number | null;
  /** Behind this position; null: from the first event on. */
  readonly after?: number | null;
  readonly end: number;
  /** What was looked at since the last call. */
  progress?(looked: { readonly events: number; readonly signed: number }): void;
}

interface Link {
  readonly revision: number;
  readonly mac: string | null;
}

/** Streams that were met lately; of others the event before is read again. */
const streamsKept = 50_000;

/** Yields each fault, in order of position. Memory is bounded, however many events and streams there are. */
export async function* verifyEvents(options: VerifyEventsOptions): AsyncGenerator<EventFault> {
  const { history, chain, signedAfter, after = null, end, progress } = options;
  const links = createLru<string, Link>(streamsKept);
  let position = after ?? 0;

  /** The event before this one in its stream; null where there should be one and is none. */
  const linkBefore = async ({ stream, revision }: StoredEvent): Promise<Link | null> => {
    const known = links.get(stream);
    if (known?.revision === revision - 1) return known;
    return history.at(stream, revision - 1);
  };

  const faultOf = async (event: StoredEvent, previousPosition: number): Promise<FaultKind | null> => {
    const { revision, mac } = event;
    const isFirst = revision === 0;
    const before = isFirst ? { revision: -1, mac: null } : await linkBefore(event);
    const isToBeSigned = signedAfter !== null && event.position > signedAfter;
    if (mac === null) {
      if (isToBeSigned || typeof before?.mac === 'string') return 'unsigned';
      return before === null && isToBeSigned ? 'missing' : null;
    }
    // Its own MAC cannot be told to be right or wrong without the one before it.
    if (before === null) return 'missing';
    const place = history.hasDensePositions ? event.position : null;
    if (!isSameMac(mac, chain.macOf({ ...event, position: place }, before.mac))) return 'altered';
    return history.hasDensePositions && event.position !== previousPosition + 1 ? 'missing' : null;
  };

  for await (const events of history.read(after, end)) {
    let signed = 0;
    for (const event of events) {
      const what = await faultOf(event, position);
      if (what !== null) yield { what, event };
      if (event.mac !== null) signed += 1;
      links.set(event.stream, { revision: event.revision, mac: event.mac });
      ({ position } = event);
    }
    progress?.({ events: events.length, signed });
  }
}
