/** What a task would tell next by its policy, where nobody has decided anything yet. Pure. */
import { unreachable } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';
import type { NotificationKind } from './action.js';
import { changeBetween, comparedValue } from './compared-value.js';
import type { Told } from './message-sentence.js';
import type { StoredPolicy } from './policy.js';

interface Found {
  readonly outcome: boolean | null;
  readonly values: JsonObject;
}

/** In the place of a value that nobody knows yet. */
const unknownYet = 'another';

/** An outcome has one other; what a value will be, nobody knows. */
function nextChange(found: Found | null): Pick<Told, 'transition' | 'change'> {
  if (found === null) return { transition: null };
  if ('value' in found.values) return { transition: null, ...changeBetween(comparedValue(found), unknownYet) };
  if (found.outcome === null) return { transition: null };
  const [from, to] = [String(found.outcome), String(!found.outcome)];
  return { transition: { kind: 'condition', from, to }, change: { from, to } };
}

/** `found`: by the run whose values the message shows; null: nothing has run. */
export function foreseenMessage(
  kind: NotificationKind,
  { notifyOn }: Pick<StoredPolicy, 'notifyOn'>,
  found: Found | null,
): Told {
  switch (kind) {
    case 'triggered':
      return notifyOn === 'changed'
        ? { kind, reason: notifyOn, ...nextChange(found) }
        : { kind, reason: notifyOn, transition: { kind: 'condition', from: 'false', to: 'true' } };
    case 'recovered':
      return { kind, reason: 'recovered', transition: { kind: 'condition', from: 'true', to: 'false' } };
    case 'error':
      return { kind, reason: 'error_threshold', transition: { kind: 'health', from: 'ok', to: 'error' } };
    default:
      return unreachable(kind);
  }
}
