/** The scheduling service: a schedule per task, the timer that fires its slots, and the requests to run a task now. */
import type { BusMessage } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { storedSchedule, triggerRun } from '#contracts/schedule';
import { taskStream } from '#contracts/task';
import type { EventMetadata } from '#event-store/event-store';
import { sourceEventExists } from '#eventing/source-event';
import type { Service } from '#eventing/service';
import type { ServicePorts } from '#eventing/service-ports';
import { toTimestamp } from '#runtime/clock';
import { ChangeSchedule, runScheduleCommand } from './change-schedule.js';
import type { ScheduleCommand } from './domain/schedule.js';
import { toMessages } from './publish.js';
import { schedulesProjection } from './schedule-view.js';
import { startScheduleReconciler } from './schedule-reconciler.js';
import { startTimer } from './timer.js';

type PlanCommand = Extract<ScheduleCommand, { readonly taskRevision: number }>;

/** The command that a task's event means for its schedule; null: none. */
export function commandFor({ type, data, key, metadata }: BusMessage): PlanCommand | null {
  const about = { taskId: key, taskRevision: Number(data['revision']) };
  const nowMs = Date.parse(metadata.at);
  const planned = data['schedule'] === undefined ? {} : { schedule: storedSchedule.parse(data['schedule']) };
  switch (type) {
    case 'task.created':
    case 'task.restored':
      return { type: 'planRuns', ...about, ...planned, active: data['active'] === true, nowMs };
    case 'task.changed':
      return { type: 'planRuns', ...about, ...planned, codeChanged: data['codeChanged'] === true, nowMs };
    case 'task.paused':
      return { type: 'planRuns', ...about, active: false, nowMs };
    case 'task.resumed':
      return { type: 'planRuns', ...about, active: true, nowMs };
    case 'task.archived':
      return { type: 'stopRuns', ...about };
    case 'task.purged':
      return { type: 'forgetRuns', ...about };
    default:
      return null;
  }
}

export function createSchedulingService(deps: ServicePorts): Service {
  const { eventStore, leases, clock, logger } = deps;
  /** Metadata of what this service does because of an event. */
  const causedBy = ({ id, metadata }: Pick<BusMessage, 'id' | 'metadata'>): EventMetadata => ({
    ...metadata,
    actor: 'system:scheduling',
    causationId: id,
    at: toTimestamp(clock.now()),
  });

  const onTask = async (message: BusMessage): Promise<void> => {
    const command = commandFor(message);
    if (command === null) return;
    const { id, key } = message;
    // A schedule whose task is in no view would run for ever.
    if (!(await sourceEventExists(eventStore, { stream: taskStream(key), revision: command.taskRevision, id }))) {
      logger.warn({ taskId: key, eventId: id }, 'ignoring task message: source event not in the event store');
      return;
    }
    await runScheduleCommand(eventStore, key, command, `${id}|schedule`, causedBy(message));
  };

  return {
    name: 'scheduling',
    projections: [schedulesProjection],
    publication: { prefixes: ['schedule-'], topic: 'schedule', toMessages },
    consumers: [{ topic: 'task', group: 'scheduling', concurrency: 64, handlerTimeoutMs: 35_000, handle: onTask }],
    responders: [
      {
        request: requests.scheduleTrigger,
        command: (payload, context) => new ChangeSchedule(triggerRun.parse(payload), context),
      },
    ],
    background: [
      () => startTimer({ ...deps, shards: leases.shards('slots') }),
      () =>
        startScheduleReconciler({
          ...deps,
          async correct(taskId, command, last) {
            const { events } = await runScheduleCommand(eventStore, taskId, command, `${last.id}|late`, causedBy(last));
            return events.length > 0;
          },
        }),
    ],
  };
}
