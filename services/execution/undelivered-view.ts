/** The view of notifications without a delivery: one document per run, until each of its deliveries is requested. */
import type { DeliveryEvent, NotificationRequest } from '#contracts/delivery';
import { lastMomentOf, type FoldEvent } from '#contracts/retention';
import type { RunEvent } from '#contracts/run';
import { decodeEvent } from '#eventing/codec';
import type { EventMetadata, RecordedEvent } from '#event-store/event-store';
import { forgettingPurged } from '#eventing/forget-purged';
import { isOfFold } from './retention/folded-runs.js';
import type { ViewDefinition } from '#read-store/read-store';

interface UndeliveredNotifications {
  readonly taskId: string;
  readonly since: string;
  readonly notifications: readonly NotificationRequest[];
  readonly metadata: EventMetadata;
}

/** One document per run that has such notifications. */
export const undeliveredView: ViewDefinition<UndeliveredNotifications> = {
  isRemembered: true,
  isReadBySweeps: true,
  name: 'unanswered_notifications',
  fields: ['since', 'taskId'],
  indexes: [['since'], ['taskId', 'since']],
};

function idOf(recorded: RecordedEvent): string | null {
  const event = decodeEvent<RunEvent | DeliveryEvent>(recorded);
  if (event.type === 'run.recorded') {
    return event.data.notifications.length > 0 ? event.data.result.runId : null;
  }
  return event.type === 'delivery.requested' ? event.data.request.executionId : null;
}

function reduce(document: UndeliveredNotifications | null, recorded: RecordedEvent): UndeliveredNotifications | null {
  const event = decodeEvent<RunEvent | DeliveryEvent>(recorded);
  if (event.type === 'run.recorded') {
    const { result, notifications } = event.data;
    return { taskId: result.taskId, since: result.finishedAt, notifications, metadata: recorded.metadata };
  }
  if (event.type !== 'delivery.requested' || document === null) return document;
  const { deliveryId } = event.data.request;
  const notifications = document.notifications.filter((request) => request.deliveryId !== deliveryId);
  return notifications.length === 0 ? null : { ...document, notifications };
}

export const undeliveredProjection = forgettingPurged<UndeliveredNotifications>(
  {
    view: undeliveredView,
    prefixes: ['run-', 'dlv-', 'stats-'],
    // A day is folded once every notification of it has a delivery.
    forgets(recorded) {
      if (!isOfFold(recorded)) return [];
      const { taskId, day } = decodeEvent<FoldEvent>(recorded).data;
      return [
        [
          { field: 'taskId', equals: taskId },
          { field: 'since', to: lastMomentOf(day) },
        ],
      ];
    },
    idOf,
    reduce,
  },
  'taskId',
);
