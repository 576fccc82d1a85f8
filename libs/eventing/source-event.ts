/** Whether news is about an event that there is. */
import type { EventStore } from '#event-store/event-store';

export interface ToldEvent {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
}

/**
 * False where a stream holds another event at that place, or none. Where an older copy of the store was put back, the bus may
 * still hand over what was told of the history that is no more.
 */
export async function isOnRecord(
  eventStore: Pick<EventStore, 'read'>,
  { stream, revision, id }: ToldEvent,
): Promise<boolean> {
  for await (const event of eventStore.read(stream, revision)) return event.id === id;
  return false;
}
