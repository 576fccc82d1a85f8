/** Notifications without a delivery: kept until it is requested, emitted again where that takes too long. */
import type { Bus } from '#bus/bus';
import type { DeliveryEvent, NotificationRequest } from '#contracts/delivery';
import type { RunEvent } from '#contracts/run';
import { decodeEvent } from '#eventing/codec';
import type { EventMetadata, RecordedEvent } from '#event-store/event-store';
import type { LeasedWork, Leases } from '#leases/leases';
import { startSweep } from '#leases/sweep';
import type { Projected } from '#eventing/projected';
import type { ReadStore, ViewDefinition } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Logger } from '#runtime/logger';
import { notificationRequested } from './publish.js';

interface UndeliveredNotifications {
  readonly since: string;
  readonly notifications: readonly NotificationRequest[];
  readonly metadata: EventMetadata;
}

/** One document per run that has such notifications. */
const undeliveredView: ViewDefinition<UndeliveredNotifications> = {
  name: 'unanswered_notifications',
  fields: ['since'],
  indexes: [['since']],
};

const sweepEveryMs = 30_000;
const overdueMs = 30_000;
const maxPerSweep = 500;

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
    return { since: result.finishedAt, notifications, metadata: recorded.metadata };
  }
  if (event.type !== 'delivery.requested' || document === null) return document;
  const { deliveryId } = event.data.request;
  const notifications = document.notifications.filter((request) => request.deliveryId !== deliveryId);
  return notifications.length === 0 ? null : { ...document, notifications };
}

export const undeliveredProjection: Projected<UndeliveredNotifications> = {
  view: undeliveredView,
  prefixes: ['run-', 'dlv-'],
  idOf,
  reduce,
};

/** Returns how many notifications were emitted again. */
async function redispatch(readStore: ReadStore, bus: Bus, clock: Clock): Promise<number> {
  const { documents } = await readStore.page(undeliveredView, {
    where: [{ field: 'since', from: '', to: toTimestamp(clock.now() - overdueMs) }],
    sort: [{ field: 'since', descending: false }],
    limit: maxPerSweep,
    offset: 0,
    count: false,
  });
  const messages = documents.flatMap(({ notifications, metadata }) =>
    notifications.map((request) => notificationRequested(request, metadata, null)),
  );
  await bus.publish('run', messages);
  return messages.length;
}

export interface RedispatcherDeps {
  readonly readStore: ReadStore;
  readonly bus: Bus;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function startRedispatcher({ readStore, bus, leases, clock, logger }: RedispatcherDeps): LeasedWork {
  return startSweep({
    leases,
    name: 'unanswered-notifications',
    everyMs: sweepEveryMs,
    logger,
    async sweep() {
      const again = await redispatch(readStore, bus, clock);
      if (again > 0) logger.warn({ notifications: again }, 'notifications without a delivery were emitted again');
    },
  });
}
