/** The tasks service: the tasks view, its messages, and the requests to change a task and to read its history. */
import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import { requests } from '#contracts/catalogue';
import { historyQuery, taskCommand, type HistoryEntry } from '#contracts/task';
import type { Service } from '#eventing/service';
import { asJson } from '#runtime/json';
import { ChangeTask, type ChangedTask } from './change-task.js';
import { toMessages } from './publish.js';
import { TaskHistory } from './task-history.js';
import { tasksProjection } from './task-view.js';

export function createTasksService(commands: CommandBus, queries: QueryBus): Service {
  return {
    name: 'tasks',
    projections: [tasksProjection],
    publication: { prefixes: ['task-'], topic: 'task', toMessages },
    responders: [
      {
        request: requests.taskChange,
        async answer(payload, context) {
          const changed: ChangedTask = await commands.execute(new ChangeTask(taskCommand.parse(payload), context));
          return { ...changed };
        },
      },
      {
        request: requests.taskHistory,
        async answer(payload, context) {
          const { taskId } = historyQuery.parse(payload);
          const entries: readonly HistoryEntry[] = await queries.execute(new TaskHistory(taskId, context));
          return asJson({ entries });
        },
      },
    ],
  };
}
