/** The operations that ask why, and what if: an explanation of a moment, and other settings on recorded runs. */
import { z } from 'zod';
import { explanation } from '#contracts/explanation';
import { policy } from '#contracts/policy';
import { figuresView } from '#contracts/retention';
import { backtest, mostBacktested } from '#contracts/run';
import { taskInput } from '#contracts/task';
import { timeParameter } from '#http/parameters';
import { route } from '#http/route';

const task = { id: { prefix: 'ntf', of: 'notification' } } as const;

export const explainNotification = route({
  method: 'GET',
  path: '/api/notifications/{id}/explain',
  operationId: 'explainNotification',
  summary: 'Why a notification task did or did not notify',
  description:
    'The last run that had ended at that time (now, where none is given): its page and value, each rule of the policy with why it passed or stopped, the decision, and its deliveries with every attempt. Where no run happened, it says why; of a time ahead, when the next one is due.',
  tag: 'Notifications',
  access: 'read',
  reads: () => [figuresView.name],
  ids: task,
  query: z.strictObject({ at: timeParameter.optional() }),
  answers: [{ status: 200, description: 'The explanation.', envelope: 'data', schema: explanation }],
});

export const backtestNotification = route({
  method: 'POST',
  path: '/api/notifications/{id}/backtest',
  operationId: 'backtestNotification',
  summary: 'Try other code, or another policy, on the recorded runs of a notification task',
  description:
    'Each run of that time whose page is kept is evaluated and decided again, in order, from the state that the task had before the first of them; what is not given is as the task has it. Nothing is recorded and nothing is sent. One backtest of an organisation runs at once (429 `too_many_backtests`); where its time is over before the last page, `summary.complete` is false.',
  tag: 'Notifications',
  access: 'write',
  ids: task,
  body: z.strictObject({
    evaluationFunction: taskInput.shape.evaluationFunction.optional(),
    policy: policy.optional().describe('The other policy; the one of the task where none is given.'),
    from: timeParameter.optional().describe('Runs that ended then or later.'),
    to: timeParameter.optional().describe('Runs that ended before.'),
    limit: z.int().min(1).max(mostBacktested).default(500).describe('The newest so many pages of that time.'),
  }),
  emptyBody: {},
  bodyExample: {
    evaluationFunction:
      "const price = page.number(document.querySelector('.price'));\npage.report('value', price);\nreturn price < 40;",
    limit: 100,
  },
  answers: [{ status: 200, description: 'What it would have done.', envelope: 'data', schema: backtest }],
});
