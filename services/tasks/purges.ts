/** Follows the purges of tasks: what they held is erased everywhere, again after a kill in the middle. */
import { purgesView, taskStream } from '#contracts/task';
import { startFollower } from '#eventing/follower';
import { purgedTask } from '#eventing/forget-purged';
import type { ServicePorts } from '#eventing/service-ports';
import { resetAfterRewind } from '#eventing/store-rewind';
import type { LeasedWork } from '#leases/leases';
import type { ContentPurger } from '#vault/content-eraser';

export function startPurges(ports: ServicePorts, purger: ContentPurger): LeasedWork {
  const { readStore, logger } = ports;
  return startFollower({
    ...ports,
    name: 'purges',
    prefixes: [taskStream('')],
    async after() {
      await resetAfterRewind(ports, purgesView);
      return readStore.checkpoint(purgesView);
    },
    async handle({ events, position }) {
      for (const event of events) {
        const taskId = purgedTask(event);
        if (taskId === null) continue;
        await purger.purge(taskId, event.position);
        logger.info({ taskId }, 'the contents of a task are purged');
      }
      await readStore.save(purgesView, [], position, undefined, events.at(-1));
    },
  });
}
