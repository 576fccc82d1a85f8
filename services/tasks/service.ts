/** The tasks service: the tasks view, its messages, and the requests to change a task and to read its history. */
import { requests } from '#contracts/catalogue';
import { taskCommand } from '#contracts/task-command';
import { historyQuery, pastTaskQuery } from '#contracts/task-history';
import type { Service } from '#eventing/service';
import type { ServicePorts } from '#eventing/service-ports';
import type { ContentPurger } from '#vault/content-eraser';
import { ChangeTask } from './change-task.js';
import { toMessages } from './publish.js';
import { startPurges } from './purges.js';
import { TaskQuery } from './task-query.js';
import { tasksProjection } from './task-view.js';

export const createTasksService = (ports: ServicePorts, purger: ContentPurger): Service => ({
  name: 'tasks',
  projections: [tasksProjection],
  background: [() => startPurges(ports, purger)],
  publication: { prefixes: ['task-'], topic: 'task', toMessages },
  responders: [
    {
      request: requests.taskChange,
      command: (payload, context) => new ChangeTask(taskCommand.parse(payload), context),
    },
    {
      request: requests.taskHistory,
      query: (payload, context) => new TaskQuery({ type: 'history', ...historyQuery.parse(payload) }, context),
    },
    {
      request: requests.taskAt,
      query: (payload, context) => new TaskQuery({ type: 'at', ...pastTaskQuery.parse(payload) }, context),
    },
  ],
});
