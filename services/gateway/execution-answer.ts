/** An execution as the API answers it: what failed says what to do about it. */
import type { ExecutionDocument } from '#contracts/run';
import { hintFor } from '#hints/hint';
import { without } from './json-casts.js';

export function toExecutionAnswer(execution: ExecutionDocument): object {
  const shown = without(execution, 'organizationId');
  const { error } = execution;
  const hint = error === null ? null : hintFor(error);
  return hint === null ? shown : { ...shown, error: { ...error, hint } };
}
