/** What a task's settings leave silent without anybody having asked for it: told in the answer that saved them. */
import { z } from 'zod';
import type { TaskSpec } from '#contracts/task';

export const taskWarning = z
  .object({
    field: z.string().describe('The setting.'),
    rule: z.string().describe('A stable word.'),
    message: z.string().describe('For people.'),
  })
  .meta({ id: 'TaskWarning' });
export type TaskWarning = z.infer<typeof taskWarning>;

export function warningsOf({ actions, policy }: Pick<TaskSpec, 'actions' | 'policy'>): readonly TaskWarning[] {
  if (policy.muted === true) return [];
  const enabled = actions.filter((action) => action.enabled);
  if (enabled.length === 0) {
    const message = 'No action is enabled: runs are recorded and decided, and nobody hears of anything.';
    return [{ field: 'actions', rule: 'nobody_listens', message }];
  }
  if (enabled.some(({ on }) => on.includes('error'))) return [];
  const message = 'No enabled action has "error" in its "on": nobody is told when the page cannot be checked any more.';
  return [{ field: 'actions', rule: 'errors_unheard', message }];
}
