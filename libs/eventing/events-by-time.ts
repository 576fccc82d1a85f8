/** Events of one stream by their time: it may hold years of them, so it is halved and not read. */
import type { EventStore, RecordedEvent } from '#event-store/event-store';

export async function eventAt(
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
  revision: number,
): Promise<RecordedEvent | null> {
  // A stream whose first events were dropped begins behind them.
  for await (const recorded of eventStore.read(stream, revision))
    return recorded.revision === revision ? recorded : null;
  return null;
}

async function firstRevision(eventStore: Pick<EventStore, 'read'>, stream: string): Promise<number> {
  for await (const { revision } of eventStore.read(stream, 0)) return revision;
  return 0;
}

/** The first revision whose event was recorded at this time or later; behind the last one where there is none. */
export async function revisionAt(
  eventStore: Pick<EventStore, 'read' | 'readLast'>,
  stream: string,
  atMs: number,
): Promise<number> {
  let low = await firstRevision(eventStore, stream);
  let high = ((await eventStore.readLast(stream))?.revision ?? -1) + 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const recorded = await eventAt(eventStore, stream, middle);
    if (recorded !== null && Date.parse(recorded.metadata.at) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last event before the revision that `accepts` takes; null: none. Meant for streams where that is one of the last. */
export async function lastBefore(
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
  revision: number,
  accepts: (recorded: RecordedEvent) => boolean,
): Promise<RecordedEvent | null> {
  for (let before = revision - 1; before >= 0; before -= 1) {
    const recorded = await eventAt(eventStore, stream, before);
    if (recorded === null) return null;
    if (accepts(recorded)) return recorded;
  }
  return null;
}
