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
export const explainedStep = z.object({
  rule: z.string().describe('What was asked: `run`, `confirmations`, `quiet_hours` and so on.'),
  passed: z.boolean(),
  message: z.string(),
});
export type ExplainedStep = z.infer<typeof explainedStep>;

export const explanation = z.object({
  at: storedTimestamp,
  answer: z.string().describe('The whole in one or two sentences.'),
  notified: z.boolean().describe('Whether the run below made notifications.'),
  task: z
    .object({ id: idSchema('ntf'), name: z.string(), revision: z.int(), status: taskStatus })
    .describe('As it was then.'),
  noRun: z
    .object({ reason: noRunReason, message: z.string(), nextRunAt: storedTimestamp.nullable() })
    .nullable()
    .describe('Why no run had been done for the moment itself; null where the run below is the one of it.'),
  execution: executionDocument
    .omit({ organizationId: true })
    .nullable()
    .describe('The last run that had ended then; null where there was none.'),
  page: z
    .object({ finalUrl: z.string(), status: z.int().nullable(), bytes: z.int(), snapshotId: z.string().nullable() })
    .nullable(),
  value: z.json(),
  codeRevision: z.int().nullable().describe('The revision since which the code had been the same, or unpaused.'),
  steps: z
    .array(explainedStep)
    .describe('In the order in which they were asked; the first that did not pass ended it.'),
  decision: decision.extend({ message: z.string() }).nullable(),
  deliveries: z.array(deliveryDocument.omit({ organizationId: true, dueAt: true })).describe('Of that run.'),
  lastNotified: z
    .object({
      deliveryId: idSchema('dlv'),
      executionId: idSchema('exe'),
      type: z.string(),
      state: z.string(),
      at: storedTimestamp,
    })
    .nullable()
    .describe('The last message before that run.'),
});
export type Explanation = z.infer<typeof explanation>;
