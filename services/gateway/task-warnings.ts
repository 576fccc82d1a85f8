/** What a task leaves silent without anybody having asked for it: by its settings, or because a receiver is gone. */
import { z } from 'zod';
import type { StoredAction } from '#contracts/action';
import type { StoredPolicy } from '#contracts/policy';
import type { DisabledAction, TaskSpec } from '#contracts/task';

export const taskWarning = z
  .object({
    field: z.string().describe('The setting.'),
    rule: z.string().describe('A stable word.'),
    message: z.string().describe('For people.'),
  })
  .meta({ id: 'TaskWarning' });
export type TaskWarning = z.infer<typeof taskWarning>;

/** Actions that were disabled by what their receivers answered, and are so still. */
export function disabledWarnings(
  { actions }: Pick<TaskSpec, 'actions'>,
  disabled: readonly DisabledAction[] = [],
): readonly TaskWarning[] {
  return disabled.flatMap(({ actionId, at, deliveryId }) => {
    const index = actions.findIndex(({ id }) => id === actionId);
    const action = actions[index];
    if (action === undefined || action.enabled) return [];
    const next =
      action.contact === undefined
        ? 'Correct its settings and enable it again.'
        : `Correct the contact "${action.contact}" and enable the action again.`;
    const message = `The ${action.type} action was disabled at ${at}: its receiver answered that it is gone (delivery ${deliveryId}). ${next}`;
    return [{ field: `actions[${index}]`, rule: 'action_disabled', message }];
  });
}

interface Settings {
  readonly actions: readonly Pick<StoredAction, 'enabled' | 'on'>[];
  readonly policy: Pick<StoredPolicy, 'muted'>;
}

/** Of settings as they are stored, or as a user writes them. */
export function warningsOf({ actions, policy }: Settings): readonly TaskWarning[] {
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
