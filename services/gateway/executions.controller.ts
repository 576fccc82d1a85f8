/** HTTP for executions and manual runs. */
import { Controller, Inject } from '@nestjs/common';
import { executionsView, runStatus, skippedSlotsView } from '#contracts/run';
import { runTrigger } from '#contracts/schedule';
import { data, type Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { READ_STORE, type FieldFilter, type ReadStore } from '#read-store/read-store';
import { findExecution, findTask } from './find-owned.js';
import { TaskRunner } from './execute-task.js';
import { toExecutionAnswer } from './execution-answer.js';
import * as routes from './executions.routes.js';
import { alongIndex, listOfViews, withinBounds } from './paging.js';
import { MessagePreviewer } from './preview-messages.js';
import { TaskTester } from './test-task.js';

/** In the order of the index of all executions. */
const steps = [
  { field: 'trigger', values: runTrigger.options },
  { field: 'status', values: runStatus.options },
  { field: 'outcome', values: [] },
];

const outcomes = { true: true, false: false, null: null } as const;

function filtersOf({ status, outcome, trigger, ...bounds }: routes.ExecutionFilters): FieldFilter[] {
  const where: FieldFilter[] = [];
  if (status !== undefined) where.push({ field: 'status', equals: status });
  if (outcome !== undefined) where.push({ field: 'outcome', equals: outcomes[outcome] });
  if (trigger !== undefined) where.push({ field: 'trigger', equals: trigger });
  return [...where, ...withinBounds('queuedAt', bounds)];
}

@Controller()
export class ExecutionsController {
  constructor(
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(TaskRunner) private readonly runner: TaskRunner,
    @Inject(TaskTester) private readonly tester: TaskTester,
    @Inject(MessagePreviewer) private readonly previewer: MessagePreviewer,
  ) {}

  @Handles(routes.executeNotification)
  async execute(@Call() call: RouteCall<typeof routes.executeNotification>): Promise<Answer> {
    const { ids, body, query, context, attempt, ending } = call;
    const task = await findTask(this.readStore, context.organizationId, ids.id);
    const waitSeconds = query.wait ?? 0;
    const { execution, finished } = await this.runner.run({
      ...body,
      task,
      waitSeconds,
      context,
      attempt,
      signal: ending(),
    });
    const status = finished && waitSeconds > 0 ? 200 : 202;
    return data(toExecutionAnswer(execution), { status, headers: { location: `/api/executions/${execution.id}` } });
  }

  @Handles(routes.testNotification)
  async test(@Call() { body, context, attempt }: RouteCall<typeof routes.testNotification>): Promise<Answer> {
    const trial = await this.tester.test(body, context, attempt);
    return data({ ...trial, messages: await this.previewer.ofTrial(body, trial, context) });
  }

  @Handles(routes.listTaskExecutions)
  async listOfTask(@Call() { ids, query, context }: RouteCall<typeof routes.listTaskExecutions>): Promise<Answer> {
    const { id } = await findTask(this.readStore, context.organizationId, ids.id);
    return this.#list([{ field: 'notificationId', equals: id }, ...filtersOf(query)], query);
  }

  @Handles(routes.listExecutions)
  async listAll(@Call() { query, context }: RouteCall<typeof routes.listExecutions>): Promise<Answer> {
    const owner = { field: 'organizationId', equals: context.organizationId };
    return this.#list([owner, ...alongIndex(steps, filtersOf(query))], query);
  }

  @Handles(routes.getExecution)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getExecution>): Promise<Answer> {
    return data(toExecutionAnswer(await findExecution(this.readStore, context.organizationId, ids.id)));
  }

  #list(where: readonly FieldFilter[], query: routes.ExecutionFilters): Promise<Answer> {
    const views = query.includeSkipped === 'true' ? [executionsView, skippedSlotsView] : [executionsView];
    return listOfViews(this.readStore, views, 'queuedAt', where, query, toExecutionAnswer);
  }
}
