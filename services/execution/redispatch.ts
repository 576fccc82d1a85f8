/** Emits notifications again that have had no delivery for too long. */
import type { Sweep } from '#eventing/service';
import type { ServicePorts } from '#eventing/service-ports';
import { toTimestamp } from '#runtime/clock';
import { notificationRequested } from './publish.js';
import { undeliveredView } from './undelivered-view.js';

const sweepEveryMs = 30_000;
const overdueMs = 30_000;
const maxPerSweep = 500;

type RedispatchDeps = Pick<ServicePorts, 'readStore' | 'bus' | 'clock' | 'logger'>;

/** Returns how many notifications were emitted again. */
async function redispatch({ readStore, bus, clock }: RedispatchDeps): Promise<number> {
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

export const redispatchSweep = (deps: RedispatchDeps): Sweep => ({
  name: 'unanswered-notifications',
  everyMs: sweepEveryMs,
  async sweep() {
    const again = await redispatch(deps);
    if (again > 0) deps.logger.warn({ notifications: again }, 'notifications without a delivery were emitted again');
  },
});
