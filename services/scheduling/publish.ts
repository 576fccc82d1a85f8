/** What this service publishes of a schedule's events: runs that are due. */
import type { BusMessage } from '#bus/bus';
import type { DueRun, ScheduleEvent } from '#contracts/schedule';
import { decodeEvent } from '#eventing/codec';
import type { EventMetadata, RecordedEvent } from '#event-store/event-store';
import { unreachable } from '#runtime/errors';

/**
 * The same run gives the same message, from the publisher and from the sweep. With the event that made it due, the message
 * counts only where that event is in the event store; null: the run comes from a view, which is derived from events.
 */
export function runDue(
  run: DueRun,
  metadata: EventMetadata,
  cause: Pick<RecordedEvent, 'id' | 'revision'> | null,
): BusMessage {
  return {
    id: `run.due:${run.runId}`,
    type: 'run.due',
    key: run.taskId,
    data: cause === null ? { run } : { run, revision: cause.revision },
    metadata: { ...metadata, causationId: cause?.id ?? null },
  };
}

export function toMessages(recorded: RecordedEvent): readonly BusMessage[] {
  const event = decodeEvent<ScheduleEvent>(recorded);
  switch (event.type) {
    case 'slot.fired':
    case 'run.requested':
      return [runDue(event.data.run, recorded.metadata, recorded)];
    case 'schedule.planned':
    case 'schedule.stopped':
    case 'schedule.forgotten':
    case 'slots.skipped':
    case 'slot.queued':
      return [];
    default:
      return unreachable(event);
  }
}
