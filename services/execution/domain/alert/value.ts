/** The policy `changed`: the value that a run reported, compared with the one before. */
import { changeBetween, comparedValue } from '#contracts/compared-value';
import type { AlertState } from '#contracts/run';
import { transitionBetween } from './condition.js';
import { send } from './message.js';
import type { AlertContext, Finding, NotificationIntent, Step } from './step.js';

/** A value that was held back is compared again by the next run; one that is back to what was notified last is not. */
export function afterValue(before: AlertState, found: AlertState, finding: Finding, task: AlertContext): Step {
  const transition = transitionBetween(before, found);
  const value = comparedValue(finding);
  const { lastValue, pendingValue, ...rest } = found;
  const known: AlertState = { ...rest, lastValue: lastValue ?? value };
  const intent = null;
  if (lastValue === undefined || lastValue === value)
    return { alert: known, reason: 'not_changed', transition, intent };
  const count = (pendingValue?.value === value ? pendingValue.count : 0) + 1;
  const { confirmations } = task.policy;
  // More of them prove no more.
  const counted: AlertState =
    confirmations === 1 ? known : { ...known, pendingValue: { value, count: Math.min(count, confirmations) } };
  if (found.flapping === true) return { alert: counted, reason: 'flapping', transition, intent };
  if (count < confirmations) return { alert: counted, reason: 'awaiting_confirmation', transition, intent };
  const message: NotificationIntent = {
    kind: 'triggered',
    dedupKey: `changed:${finding.runId}`,
    reason: 'changed',
    transition,
    ...changeBetween(lastValue, value),
  };
  const sent = send(counted, message, finding, task);
  const { pendingValue: _pendingValue, ...settled } = sent.alert;
  return {
    alert: sent.result === 'held' ? sent.alert : { ...settled, lastValue: value },
    reason: sent.reason,
    transition,
    intent: sent.intent,
    ...(sent.unheard === undefined ? {} : { unheard: sent.unheard }),
  };
}
