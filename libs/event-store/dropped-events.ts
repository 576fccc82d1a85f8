/**
 * What stands for an event that was folded and dropped where its stream is copied into a store that begins with nothing: it keeps
 * the revisions of those behind it, and is cut off itself once they are there. An engine that cleans up later shows it until then.
 */
import { derivedEventId } from '#runtime/ids';
import type { EventArchive, NewEvent, RecordedEvent } from './event-store.js';

const droppedType = 'event.dropped';

export const isDropped = ({ type }: Pick<RecordedEvent, 'type'>): boolean => type === droppedType;

/** In place of the event at the revision; `first`: the first of its stream that is left. */
export function droppedEvent({ stream, metadata }: RecordedEvent, revision: number): NewEvent {
  return {
    id: derivedEventId(`${stream}|${droppedType}`, String(revision)),
    type: droppedType,
    version: 1,
    data: {},
    metadata: { ...metadata, actor: 'system:migration', requestId: 'migration', causationId: null },
  };
}

/** Where streams begin, asked once for each. */
export function createBeginnings({ stored }: Pick<EventArchive, 'stored'>): (stream: string) => Promise<number> {
  const known = new Map<string, number>();
  let loaded: Promise<void> | null = null;
  const load = async (): Promise<void> => {
    for await (const { stream, revision } of stored.beginnings()) known.set(stream, revision);
  };
  return async (stream) => {
    // Such a store tells all of them at once; another is asked for each.
    if (stored.hasDensePositions) await (loaded ??= load());
    const revision =
      known.get(stream) ?? (stored.hasDensePositions ? 0 : (await stored.beginning(stream))?.revision) ?? 0;
    known.set(stream, revision);
    return revision;
  };
}
