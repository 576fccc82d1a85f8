/** What comes in for tasks: requests to change one and to tell its history. Runs the view and the publication beside. */
import { Inject, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { BUS, type Bus, type Consumer } from '#bus/bus';
import { startPublisher } from '#eventing/publisher';
import { requests } from '#contracts/catalogue';
import { historyQuery, taskCommand, type HistoryEntry } from '#contracts/task';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { startProjection } from '#eventing/projection';
import { LEASES, type LeasedWork, type Leases } from '#leases/leases';
import { READ_STORE, type ViewStore } from '#read-store/read-store';
import { asJson } from '#runtime/json';
import { LOGGER, type Logger } from '#runtime/logger';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import { ChangeTask, type ChangedTask } from './change-task.js';
import { toMessages } from './publish.js';
import { TaskHistory } from './task-history.js';
import { tasksProjection } from './task-view.js';

export class TasksInbox implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private running: readonly (Consumer | LeasedWork)[] = [];

  constructor(
    @Inject(CommandBus) private readonly commands: CommandBus,
    @Inject(QueryBus) private readonly queries: QueryBus,
    @Inject(BUS) private readonly bus: Bus,
    @Inject(EVENT_STORE) private readonly eventStore: EventStore,
    @Inject(READ_STORE) private readonly readStore: ViewStore,
    @Inject(SHARED_STATE) private readonly sharedState: SharedState,
    @Inject(LEASES) private readonly leases: Leases,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { bus, eventStore, readStore, sharedState, leases, logger } = this;
    const stores = { eventStore, readStore, leases, logger };
    this.running = [
      await bus.respond(requests.taskChange, async (payload, context) => {
        const command = taskCommand.parse(payload);
        const changed: ChangedTask = await this.commands.execute(new ChangeTask(command, context));
        return { ...changed };
      }),
      await bus.respond(requests.taskHistory, async (payload, context) => {
        const { taskId } = historyQuery.parse(payload);
        const entries: readonly HistoryEntry[] = await this.queries.execute(new TaskHistory(taskId, context));
        return asJson({ entries });
      }),
      startProjection({ ...stores, sharedState, ...tasksProjection }),
      startPublisher({ ...stores, bus, name: 'tasks', prefixes: ['task-'], topic: 'task', toMessages }),
    ];
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.running.map((part) => part.stop()));
  }
}
