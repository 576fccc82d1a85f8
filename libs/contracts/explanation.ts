/** Why a task did, or did not, notify at a moment (`run.explain`): the chain from page to message. */
import { z } from 'zod';
import { idSchema, storedTimestamp } from './common.js';
import { deliveryDocument } from './delivery.js';
import { decision } from './policy.js';
import { executionDocument } from './run.js';
import { taskStatus } from './task.js';

export const explainQuery = z.object({ taskId: idSchema('ntf'), at: storedTimestamp });
export type ExplainQuery = z.infer<typeof explainQuery>;

export const noRunReason = z.enum([
  'never_planned',
  'paused',
  'manual',
  'ended',
  'not_due',
  'running',
  'queued',
  'overlap',
  'catch_up_none',
  'missed',
  'backs_off',
]);
export type NoRunReason = z.infer<typeof noRunReason>;

/** One rule on the way from what was found to a message. */
export const explainedStep = z
  .object({
    rule: z.string().describe('What was asked: `run`, `confirmations`, `quiet_hours` and so on.'),
    passed: z.boolean().describe('Whether the rule let it go on.'),
    message: z.string().describe('The same in words.'),
  })
  .meta({ id: 'ExplainedStep' });
export type ExplainedStep = z.infer<typeof explainedStep>;

export const explanation = z
  .object({
    at: storedTimestamp.describe('The moment that was asked for.'),
    answer: z.string().describe('The whole in one or two sentences.'),
    folded: z
      .boolean()
      .describe('The runs of that day are kept as figures: execution, page and rules are not known any more.'),
    notified: z.boolean().describe('Whether the run below made notifications.'),
    task: z
      .object({
        id: idSchema('ntf').describe('Of the task.'),
        name: z.string().describe('What people call it.'),
        revision: z.int().describe('Of the task.'),
        status: taskStatus.describe('Whether it was paused.'),
      })
      .describe('As it was then.'),
    noRun: z
      .object({
        reason: noRunReason.describe('A stable word.'),
        message: z.string().describe('For people.'),
        nextRunAt: storedTimestamp.nullable().describe('When the next run was due.'),
      })
      .nullable()
      .describe('Why no run had been done for the moment itself; null where the run below is the one of it.'),
    execution: executionDocument
      .omit({ organizationId: true })
      .nullable()
      .describe('The last run that had ended then; null where there was none.'),
    page: z
      .object({
        finalUrl: z.string().describe('Where redirects ended.'),
        status: z.int().nullable().describe('Of the answer; null: there was none.'),
        bytes: z.int().describe('Of the page.'),
        snapshotId: z.string().nullable().describe('The page, where it is kept.'),
      })
      .nullable()
      .describe('What the run saw; null: nothing.'),
    value: z.json().describe('*The* value that the code reported.'),
    codeRevision: z.int().nullable().describe('The revision since which the code had been the same, or unpaused.'),
    steps: z
      .array(explainedStep)
      .describe('In the order in which they were asked; the first that did not pass ended it.'),
    decision: decision
      .extend({ message: z.string().describe('The same in words.') })
      .nullable()
      .describe('What was decided of the run; null: there was none.'),
    deliveries: z
      .array(deliveryDocument.omit({ organizationId: true, dueAt: true, thread: true }))
      .describe('Of that run.'),
    lastNotified: z
      .object({
        deliveryId: idSchema('dlv').describe('Of the message.'),
        executionId: idSchema('exe').describe('Of its run.'),
        type: z.string().describe('The kind of message.'),
        state: z.string().describe('How far it is.'),
        at: storedTimestamp.describe('When it was decided.'),
      })
      .nullable()
      .describe('The last message before that run.'),
  })
  .meta({ id: 'Explanation' });
export type Explanation = z.infer<typeof explanation>;
