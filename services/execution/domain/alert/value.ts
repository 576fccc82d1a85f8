/** The policy `changed`: the value that a run reported, compared with the one before. */
import type { AlertState } from '#contracts/run';
import { derivedEventId } from '#runtime/ids';
import type { Json } from '#runtime/json';
import { transitionBetween } from './condition.js';
import { send } from './message.js';
import type { AlertContext, Finding, NotificationIntent, Step } from './step.js';

/** The state is part of every recorded run: a longer value is only known by its hash. */
const maxLength = 200;

/** Equal values have equal texts, whatever the order of their members. */
function canonical(value: Json): Json {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, canonical(member)]));
}

/** The value called `value`, or else the outcome. A JSON text never begins with `#`, a hash does. */
function valueOf({ values, outcome }: Finding): string {
  const { value = outcome } = values;
  const text = JSON.stringify(canonical(value));
  return text.length <= maxLength ? text : `#${derivedEventId('value', text)}`;
}

function changeOf(from: string, to: string): Pick<NotificationIntent, 'change'> {
  return from.startsWith('#') || to.startsWith('#') ? {} : { change: { from, to } };
}

/** A value that was held back is compared again by the next run; one that is back to what was notified last is not. */
export function afterValue(before: AlertState, found: AlertState, finding: Finding, task: AlertContext): Step {
  const transition = transitionBetween(before, found);
  const value = valueOf(finding);
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
    ...changeOf(lastValue, value),
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
