/** The operations on executions, deliveries and manual runs. */
import { z } from 'zod';
import { executionDocument, runStatus, skippedSlotsView, testExecution } from '#contracts/run';
import { messagePreview } from '#contracts/message-preview';
import { runTrigger } from '#contracts/schedule';
import { taskInput } from '#contracts/task';
import { afterParameter, pageParameters, timeParameter, wholeNumber } from '#http/parameters';
import { route } from '#http/route';
import { readOnlyFields } from './task-answer.js';

const task = { id: { prefix: 'ntf', of: 'notification' } } as const;

export const executionAnswer = executionDocument.omit({ organizationId: true }).meta({ id: 'Execution' });

const between = {
  from: timeParameter.optional(),
  to: timeParameter.optional(),
};

const executionFilters = z.strictObject({
  ...pageParameters,
  after: afterParameter,
  status: runStatus.optional(),
  outcome: z.enum(['true', 'false', 'null']).optional(),
  trigger: runTrigger.optional(),
  includeSkipped: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Slots that have no run too, a row of the same reason as one entry with `count`.' }),
  ...between,
});
export type ExecutionFilters = z.output<typeof executionFilters>;

const executions = [
  { status: 200, description: 'Executions, newest first.', envelope: 'list', schema: executionAnswer, cursor: true },
] as const;

/** Slots without a run are not run by hand. */
const ranExecution = executionAnswer.omit({ count: true }).meta({ id: 'StartedExecution' });

export const executeNotification = route({
  method: 'POST',
  path: '/api/notifications/{id}/execute',
  operationId: 'executeNotification',
  summary: 'Run a notification task now',
  description:
    'It obeys the policy; `force` notifies if the outcome is true; `dryRun` sends nothing and changes no state. With `wait` the answer is the finished execution where it finishes in time. While twenty runs of the task are waiting for their turn, the answer is 503 `too_many_runs_waiting`.',
  tag: 'Execute',
  access: 'execute',
  ids: task,
  query: z.strictObject({
    wait: wholeNumber(1, 60).optional().meta({ description: 'Seconds to wait for the execution to finish.' }),
  }),
  body: z.strictObject({
    force: z.boolean().default(false).describe('Notify if the outcome is true, whatever the policy says.'),
    dryRun: z.boolean().default(false).describe('Decide, but send nothing and change no state.'),
  }),
  emptyBody: {},
  bodyExample: { dryRun: true },
  answers: [
    {
      status: 202,
      description: 'It is queued, or was not finished in time.',
      envelope: 'data',
      schema: ranExecution,
    },
    { status: 200, description: 'It is finished.', envelope: 'data', schema: ranExecution },
  ],
});

const trialAnswer = testExecution
  .extend({
    messages: z
      .array(messagePreview)
      .describe(
        'Of each enabled action that listens: its message as it would be sent, whether or not the policy sends it.',
      ),
  })
  .meta({ id: 'Trial' });

export const testNotification = route({
  method: 'POST',
  path: '/api/notifications/test',
  operationId: 'testNotification',
  summary: 'Try a notification task that is not saved',
  description:
    'Loads the page, runs the code and answers with what would be decided if it were a first run. Nothing is stored and nothing is sent. Errors come with their place in the code, the lines around it, and a hint. Four tests of an organisation run at once (429 `too_many_tests`); a page that is not loaded after 45 s counts as `timed_out`.',
  tag: 'Execute',
  access: 'write',
  body: taskInput,
  ignoredFields: readOnlyFields,
  bodyExample: {
    name: 'Price of the red kettle',
    url: 'https://shop.example.com/kettle',
    evaluationFunction:
      "const price = page.number(document.querySelector('.price'));\npage.report('value', price);\nreturn price < 40;",
  },
  answers: [{ status: 200, description: 'The finished execution.', envelope: 'data', schema: trialAnswer }],
});

const readsSkipped = (query: Readonly<Record<string, unknown>>): readonly string[] =>
  query['includeSkipped'] === 'true' ? [skippedSlotsView.name] : [];

export const listTaskExecutions = route({
  method: 'GET',
  path: '/api/notifications/{id}/executions',
  operationId: 'listNotificationExecutions',
  summary: 'List executions of a notification task',
  tag: 'Execute',
  access: 'read',
  reads: readsSkipped,
  ids: task,
  query: executionFilters,
  answers: executions,
});

export const listExecutions = route({
  method: 'GET',
  path: '/api/executions',
  operationId: 'listExecutions',
  summary: 'List executions of all notification tasks',
  tag: 'Execute',
  access: 'read',
  reads: readsSkipped,
  query: executionFilters,
  answers: executions,
});

export const getExecution = route({
  method: 'GET',
  path: '/api/executions/{id}',
  operationId: 'getExecution',
  summary: 'Get an execution',
  tag: 'Execute',
  access: 'read',
  ids: { id: { prefix: 'exe', of: 'execution' } },
  reads: () => [skippedSlotsView.name],
  answers: [{ status: 200, description: 'The execution.', envelope: 'data', schema: executionAnswer }],
});
