/** Whether the event that a message comes from is in the event store. */
import type { EventStore } from '#event-store/event-store';

export interface SourceEvent {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
}

/**
 * False where the stream holds another event at that revision, or none: after a store rewind the bus may still hold messages of
 * events that are gone.
 */
export async function sourceEventExists(
  eventStore: Pick<EventStore, 'read' | 'readLast'>,
  { stream, revision, id }: SourceEvent,
): Promise<boolean> {
  // Nearly always the newest of its stream, which is in memory and takes no iterator.
  const last = await eventStore.readLast(stream);
  if (last?.revision === revision) return last.id === id;
  for await (const event of eventStore.read(stream, revision)) return event.id === id;
  return false;
}
