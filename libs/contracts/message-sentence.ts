/** What a message says has happened, in one plain sentence; the user's own values and words come with the templates. Pure. */
import { unreachable } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';
import type { NotificationKind } from './action.js';
import type { DecisionReason, Transition } from './policy.js';

/** What is told, and why. */
export interface Told {
  readonly kind: NotificationKind;
  readonly reason: DecisionReason;
  readonly transition: Transition | null;
  /** Of `changed`: the values as text, where they are short. */
  readonly change?: { readonly from: string; readonly to: string };
}

interface Found {
  readonly values: JsonObject;
  readonly error: { readonly message: string } | null;
}

function triggered({ reason, change }: Told, name: string, { values }: Found): string {
  switch (reason) {
    case 'forced':
      return `"${name}" was run by hand and its condition is true.`;
    case 'reminder':
      return `"${name}": the condition is still true.`;
    case 'every_true':
      return `"${name}": the condition is true.`;
    case 'changed': {
      const what = 'value' in values ? 'value' : 'outcome';
      return change === undefined
        ? `"${name}": the ${what} changed.`
        : `"${name}": the ${what} changed from ${change.from} to ${change.to}.`;
    }
    default:
      return `"${name}": the condition became true.`;
  }
}

/** `name`: of the task. */
export function sentenceOf(told: Told, name: string, found: Found): string {
  const { kind, transition } = told;
  switch (kind) {
    case 'triggered':
      return triggered(told, name, found);
    case 'recovered':
      return transition?.kind === 'health'
        ? `"${name}" can be checked again.`
        : `"${name}": the condition is not true any more.`;
    case 'error':
      return `"${name}" cannot be checked: ${found.error?.message ?? 'the run failed.'}`;
    default:
      return unreachable(kind);
  }
}
