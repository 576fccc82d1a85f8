/** What this service publishes of a run: that it was recorded, and each notification that follows. */
import type { BusMessage } from '#bus/bus';
import type { NotificationRequest } from '#contracts/delivery';
import type { RunEvent } from '#contracts/run';
import { decodeEvent } from '#eventing/codec';
import type { EventMetadata, RecordedEvent } from '#event-store/event-store';
import { unreachable } from '#runtime/errors';

/** The same notification gives the same message, from the publisher and from the redispatcher. */
export function notificationRequested(
  request: NotificationRequest,
  metadata: EventMetadata,
  causationId: string | null,
): BusMessage {
  return {
    id: `notification.requested:${request.deliveryId}`,
    type: 'notification.requested',
    key: request.deliveryId,
    data: request,
    metadata: { ...metadata, causationId },
  };
}

export function toMessages(recorded: RecordedEvent): readonly BusMessage[] {
  const event = decodeEvent<RunEvent>(recorded);
  switch (event.type) {
    case 'run.recorded': {
      const { result, decision, notifications } = event.data;
      const { notify, reason, transition } = decision;
      return [
        {
          id: recorded.id,
          type: 'run.recorded',
          key: result.taskId,
          data: {
            runId: result.runId,
            taskId: result.taskId,
            status: result.status,
            outcome: result.outcome,
            decision: { notify, reason, transition },
          },
          metadata: { ...recorded.metadata, causationId: recorded.id },
        },
        ...notifications.map((request) => notificationRequested(request, recorded.metadata, recorded.id)),
      ];
    }
    case 'run.started':
    case 'run.cancelled':
    case 'run.forgotten':
      return [];
    default:
      return unreachable(event);
  }
}
