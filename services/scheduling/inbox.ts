/** Consumes task messages and answers requests to run a task now; runs the timer, the reconciler, the projection and the publisher of this service. */
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BUS, type Bus, type BusMessage, type Consumer, type RequestContext } from '#bus/bus';
import { startPublisher } from '#eventing/publisher';
import { requests } from '#contracts/catalogue';
import { schedule, scheduleStream, triggerRun, type ScheduleEvent } from '#contracts/schedule';
import { taskStream } from '#contracts/task';
import { EVENT_STORE, type EventMetadata, type EventStore } from '#event-store/event-store';
import { isOnRecord } from '#eventing/source-event';
import { runCommand } from '#eventing/run-command';
import { startProjection } from '#eventing/projection';
import { LEASES, type LeasedWork, type Leases } from '#leases/leases';
import { READ_STORE, type ViewStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import type { Json, JsonObject } from '#runtime/json';
import { LOGGER, type Logger } from '#runtime/logger';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import { scheduleDecider, type ScheduleCommand, type ScheduleState } from './domain/schedule.js';
import { toMessages } from './publish.js';
import { schedulesProjection } from './schedule-view.js';
import { startScheduleReconciler } from './schedule-reconciler.js';
import { startTimer, type Timer } from './timer.js';

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

export class SchedulingInbox implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #deps;
  #intake: readonly (Consumer | LeasedWork | Timer)[] = [];
  #followers: readonly LeasedWork[] = [];

  constructor(
    @Inject(BUS) bus: Bus,
    @Inject(EVENT_STORE) eventStore: EventStore,
    @Inject(READ_STORE) readStore: ViewStore,
    @Inject(SHARED_STATE) sharedState: SharedState,
    @Inject(LEASES) leases: Leases,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#deps = { bus, eventStore, readStore, sharedState, leases, clock, logger };
  }

  async onApplicationBootstrap(): Promise<void> {
    const { bus, eventStore, readStore, sharedState, leases, clock, logger } = this.#deps;
    const stores = { eventStore, readStore, leases, logger };
    this.#followers = [
      startProjection({ ...stores, sharedState, ...schedulesProjection }),
      startPublisher({ ...stores, bus, name: 'scheduling', prefixes: ['schedule-'], topic: 'schedule', toMessages }),
    ];
    // At once: each joins a group of its own, which takes its time where others are in it already.
    const consumers = await Promise.all([
      bus.consume({ topic: 'task', group: 'scheduling', concurrency: 64, handlerTimeoutMs: 35_000 }, (message) =>
        this.#onTask(message),
      ),
      bus.respond(requests.scheduleTrigger, (payload, context) => this.#onTrigger(payload, context)),
    ]);
    this.#intake = [
      ...consumers,
      startTimer({ eventStore, readStore, bus, clock, logger, shards: leases.shards('slots') }),
      startScheduleReconciler({
        ...stores,
        clock,
        correct: async (taskId, command, last) => {
          const { events } = await this.#run(taskId, command, `${last.id}|late`, {
            ...last.metadata,
            actor: 'system:scheduling',
            causationId: last.id,
            at: toTimestamp(clock.now()),
          });
          return events.length > 0;
        },
      }),
    ];
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.#intake.map((part) => part.stop()));
    await Promise.all(this.#followers.map((part) => part.stop()));
  }

  async #onTask(message: BusMessage): Promise<void> {
    const command = commandFor(message);
    if (command === null) return;
    const { id, key } = message;
    // A schedule whose task is in no view would run for ever.
    if (!(await isOnRecord(this.#deps.eventStore, { stream: taskStream(key), revision: command.taskRevision, id }))) {
      this.#deps.logger.warn(
        { taskId: key, eventId: id },
        'ignoring task message: source event not in the event store',
      );
      return;
    }
    await this.#run(key, command, `${id}|schedule`, {
      ...message.metadata,
      actor: 'system:scheduling',
      causationId: id,
      at: toTimestamp(this.#deps.clock.now()),
    });
  }

  async #onTrigger(payload: JsonObject, context: RequestContext): Promise<Json> {
    const { taskId, runId, force, dryRun } = triggerRun.parse(payload);
    const nowMs = this.#deps.clock.now();
    const metadata: EventMetadata = { ...context, causationId: null, at: toTimestamp(nowMs) };
    const { events, position } = await this.#run(
      taskId,
      { type: 'requestRun', taskId, runId, force, dryRun, nowMs },
      `${runId}|requested`,
      metadata,
    );
    const requested = events.find((event) => event.type === 'run.requested');
    return { run: requested?.data.run ?? null, position };
  }

  #run(taskId: string, command: ScheduleCommand, commandId: string, metadata: EventMetadata) {
    return runCommand<ScheduleState, ScheduleCommand, ScheduleEvent>(this.#deps.eventStore, scheduleDecider, {
      stream: scheduleStream(taskId),
      command,
      commandId,
      metadata,
      from: 'last',
    });
  }
}
