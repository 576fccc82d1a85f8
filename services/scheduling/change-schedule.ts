/** Runs commands on the schedule of a task; one of them, to run the task now, is a request of other services. */
import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import { scheduleStream, type DueRun, type ScheduleEvent, type TriggerRun } from '#contracts/schedule';
import { EVENT_STORE, type EventMetadata, type EventStore } from '#event-store/event-store';
import { runCommand, type CommandOutcome } from '#eventing/run-command';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { scheduleDecider, type ScheduleCommand, type ScheduleState } from './domain/schedule.js';

export function runScheduleCommand(
  eventStore: EventStore,
  taskId: string,
  command: ScheduleCommand,
  commandId: string,
  metadata: EventMetadata,
): Promise<CommandOutcome<ScheduleState, ScheduleEvent>> {
  const stream = scheduleStream(taskId);
  return runCommand(eventStore, scheduleDecider, { stream, command, commandId, metadata, from: 'last' });
}

/** Asks for a run of the task now. */
export class ChangeSchedule {
  constructor(
    readonly run: TriggerRun,
    readonly context: RequestContext,
  ) {}
}

export interface TriggeredRun {
  /** null: the run was requested before. */
  readonly run: DueRun | null;
  readonly position: number | null;
}

@CommandHandler(ChangeSchedule)
export class ChangeScheduleHandler implements ICommandHandler<ChangeSchedule, TriggeredRun> {
  constructor(
    @Inject(EVENT_STORE) private readonly eventStore: EventStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ run, context }: ChangeSchedule): Promise<TriggeredRun> {
    const nowMs = this.clock.now();
    const { events, position } = await runScheduleCommand(
      this.eventStore,
      run.taskId,
      { type: 'requestRun', ...run, nowMs },
      `${run.runId}|requested`,
      { ...context, causationId: null, at: toTimestamp(nowMs) },
    );
    const requested = events.find((event) => event.type === 'run.requested');
    return { run: requested?.data.run ?? null, position };
  }
}
