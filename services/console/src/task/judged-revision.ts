/** The revision of the task that a run was judged under. Pure. */
import type { Explanation } from '../api/types.js';

/** `codeRevision` tells since when the code had been the same: an edit of policy or actions alone leaves it where it was. */
export function judgedRevision({
  execution,
  task,
}: {
  readonly execution: Pick<NonNullable<Explanation['execution']>, 'revision'> | null;
  readonly task: Pick<Explanation['task'], 'revision'>;
}): number {
  return execution?.revision ?? task.revision;
}
