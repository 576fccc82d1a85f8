/** Runs that the bus still tells of after an older copy of the events was put back, which does not hold what made them due. */
import type { BusMessage } from '#bus/bus';
import { scheduleStream, type DueRun } from '#contracts/schedule';
import type { EventStore } from '#event-store/event-store';
import { isOnRecord } from '#event-store/on-record';

/**
 * True where the slot or the request that the message tells of is not on record: nobody could explain the run. False where it
 * names no event: who emits a run again knows it from what was made of the record.
 */
export async function isLost(
  eventStore: Pick<EventStore, 'read'>,
  { taskId }: DueRun,
  { data, metadata }: Pick<BusMessage, 'data' | 'metadata'>,
): Promise<boolean> {
  const { revision } = data;
  const id = metadata.causationId;
  if (typeof revision !== 'number' || id === null) return false;
  return !(await isOnRecord(eventStore, { stream: scheduleStream(taskId), revision, id }));
}
