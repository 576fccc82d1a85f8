/** When an outcome becomes a notification: the user's policy and the words of a decision. */
import { z } from 'zod';

export const policy = z.strictObject({
  notifyOn: z.enum(['became_true']).default('became_true'),
  /** Failed runs in a row until health is `error`. */
  errorThreshold: z.int().min(1).max(100).default(3),
});
export type Policy = z.infer<typeof policy>;

export const condition = z.enum(['unknown', 'false', 'true']);

export const health = z.enum(['ok', 'error']);

export const decisionReason = z.enum([
  'became_true',
  'recovered',
  'error_threshold',
  'forced',
  'still_true',
  'not_true',
  'not_changed',
  'error_below_threshold',
  'dry_run',
  'no_actions',
  'paused',
]);
export type DecisionReason = z.infer<typeof decisionReason>;

export const transition = z.object({
  kind: z.enum(['condition', 'health']),
  from: z.string(),
  to: z.string(),
});
export type Transition = z.infer<typeof transition>;

export const decision = z.object({
  notify: z.boolean(),
  reason: decisionReason,
  transition: transition.nullable(),
});
export type Decision = z.infer<typeof decision>;
