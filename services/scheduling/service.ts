/** The scheduling service: a schedule per task, the timer that fires its slots, and the requests to run a task now. */
import type { Bus, BusMessage, RequestContext } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { schedule, scheduleStream, triggerRun, type ScheduleEvent } from '#contracts/schedule';
import { taskStream } from '#contracts/task';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import { sourceEventExists } from '#eventing/source-event';
import { runCommand } from '#eventing/run-command';
import type { Service } from '#eventing/service';
import type { Leases } from '#leases/leases';
import type { ViewStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Json, JsonObject } from '#runtime/json';
import type { Logger } from '#runtime/logger';
import { scheduleDecider, type ScheduleCommand, type ScheduleState } from './domain/schedule.js';
import { toMessages } from './publish.js';
import { schedulesProjection } from './schedule-view.js';
import { startScheduleReconciler } from './schedule-reconciler.js';
import { startTimer } from './timer.js';

type PlanCommand = Extract<ScheduleCommand, { readonly taskRevision: number }>;

/** The command that a task's event means for its schedule; null: none. */
export function commandFor({ type, data, key, metadata }: BusMessage): PlanCommand | null {
  const about = { taskId: key, taskRevision: Number(data['revision']) };
  const nowMs = Date.parse(metadata.at);
  const planned = data['schedule'] === undefined ? {} : { schedule: schedule.parse(data['schedule']) };
  switch (type) {
    case 'task.created':
      return { type: 'planRuns', ...about, ...planned, active: data['active'] === true, nowMs };
    case 'task.changed':
      return { type: 'planRuns', ...about, ...planned, codeChanged: data['codeChanged'] === true, nowMs };
    case 'task.paused':
      return { type: 'planRuns', ...about, active: false, nowMs };
    case 'task.resumed':
      return { type: 'planRuns', ...about, active: true, nowMs };
    case 'task.archived':
      return { type: 'stopRuns', ...about };
    default:
      return null;
  }
}

export interface SchedulingDeps {
  readonly bus: Bus;
  readonly eventStore: EventStore;
  readonly readStore: ViewStore;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createSchedulingService(deps: SchedulingDeps): Service {
  const { eventStore, leases, clock, logger } = deps;
  const run = (taskId: string, command: ScheduleCommand, commandId: string, metadata: EventMetadata) =>
    runCommand<ScheduleState, ScheduleCommand, ScheduleEvent>(eventStore, scheduleDecider, {
      stream: scheduleStream(taskId),
      command,
      commandId,
      metadata,
      from: 'last',
    });

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
    await run(key, command, `${id}|schedule`, causedBy(message));
  };

  const onTrigger = async (payload: JsonObject, context: RequestContext): Promise<Json> => {
    const { taskId, runId, force, dryRun } = triggerRun.parse(payload);
    const nowMs = clock.now();
    const metadata: EventMetadata = { ...context, causationId: null, at: toTimestamp(nowMs) };
    const command = { type: 'requestRun', taskId, runId, force, dryRun, nowMs } as const;
    const { events, position } = await run(taskId, command, `${runId}|requested`, metadata);
    const requested = events.find((event) => event.type === 'run.requested');
    return { run: requested?.data.run ?? null, position };
  };

  return {
    name: 'scheduling',
    projections: [schedulesProjection],
    publication: { prefixes: ['schedule-'], topic: 'schedule', toMessages },
    consumers: [{ topic: 'task', group: 'scheduling', concurrency: 64, handlerTimeoutMs: 35_000, handle: onTask }],
    responders: [{ request: requests.scheduleTrigger, answer: onTrigger }],
    background: [
      () => startTimer({ ...deps, shards: leases.shards('slots') }),
      () =>
        startScheduleReconciler({
          ...deps,
          correct: async (taskId, command, last) =>
            (await run(taskId, command, `${last.id}|late`, causedBy(last))).events.length > 0,
        }),
    ],
  };
}
