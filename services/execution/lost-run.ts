/** Runs that messages still announce after an older copy of the events was restored, which lacks the event that made them due. */
import type { BusMessage } from '#bus/bus';
import { scheduleStream, type DueRun } from '#contracts/schedule';
import type { EventStore } from '#event-store/event-store';
import { sourceEventExists } from '#eventing/source-event';

/**
 * True where the slot or request that the message names is not in the event store: nothing would explain the run. False where
 * it names no event: a sweep emits it again from a view, which is made of events.
 */
export async function isLost(
  eventStore: Pick<EventStore, 'read' | 'readLast'>,
  { taskId }: DueRun,
  { data, metadata }: Pick<BusMessage, 'data' | 'metadata'>,
): Promise<boolean> {
  const { revision } = data;
  const id = metadata.causationId;
  if (typeof revision !== 'number' || id === null) return false;
  return !(await sourceEventExists(eventStore, { stream: scheduleStream(taskId), revision, id }));
}
