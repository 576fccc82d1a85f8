/** Emits notifications again whose delivery is requested by nobody for too long. */
import type { Bus } from '#bus/bus';
import type { Sweep } from '#eventing/service';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Logger } from '#runtime/logger';
import { notificationRequested } from './publish.js';
import { undeliveredView } from './undelivered-view.js';

const sweepEveryMs = 30_000;
const overdueMs = 30_000;
const maxPerSweep = 500;

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

export interface RedispatchDeps {
  readonly readStore: ReadStore;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const redispatchSweep = ({ readStore, bus, clock, logger }: RedispatchDeps): Sweep => ({
  name: 'unanswered-notifications',
  everyMs: sweepEveryMs,
  async sweep() {
    const again = await redispatch(readStore, bus, clock);
    if (again > 0) logger.warn({ notifications: again }, 'notifications without a delivery were emitted again');
  },
});
