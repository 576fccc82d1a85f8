/** An outcome and what was notified last: which message follows, by the policies `became_true` and `every_true`. */
import type { DecisionReason, Transition } from '#contracts/policy';
import type { AlertState } from '#contracts/run';
import { transitionBetween, withOutcome } from './condition.js';
import { countMessage, send, subscribes, type Sent } from './message.js';
import {
  apartMs,
  isAcknowledged,
  type AlertContext,
  type Finding,
  type NotificationIntent,
  type Step,
} from './step.js';
import { afterValue } from './value.js';

/** The condition has been notified as true: its end will be, too. */
function opened(alert: AlertState): AlertState {
  const { held: _held, ...rest } = alert;
  return alert.told === 'true' ? rest : { ...rest, episode: alert.episode + 1, told: 'true' };
}

function afterTrigger({ alert, result }: Sent, task: AlertContext): AlertState {
  if (result === 'sent') return opened(alert);
  // Unpausing makes the condition unknown, so that it is found anew.
  if (result === 'held') return task.paused || alert.told === 'true' ? alert : { ...alert, held: true };
  const { held: _held, ...rest } = alert;
  return rest;
}

type Decided = Omit<Step, 'transition'>;

const nothing = (alert: AlertState, reason: DecisionReason): Decided => ({ alert, reason, intent: null });

function remind(alert: AlertState, finding: Finding, task: AlertContext): Decided {
  const { reminderSeconds } = task.policy;
  const { finishedAt, runId } = finding;
  if (reminderSeconds === 0 || isAcknowledged(alert, finding, task)) return nothing(alert, 'still_true');
  // Reminders that were turned on during an episode count from the first run on.
  if (alert.triggeredAt === undefined) return nothing({ ...alert, triggeredAt: finishedAt }, 'still_true');
  if (apartMs(alert.triggeredAt, finishedAt) < reminderSeconds * 1_000) return nothing(alert, 'still_true');
  const message: NotificationIntent = {
    kind: 'triggered',
    dedupKey: `reminder:${runId}`,
    reason: 'reminder',
    transition: null,
  };
  const sent = send(alert, message, finding, task);
  const isOver = sent.result === 'unheard';
  return { ...sent, alert: isOver ? { ...alert, triggeredAt: finishedAt } : sent.alert };
}

function whileTrue(alert: AlertState, transition: Transition | null, finding: Finding, task: AlertContext): Decided {
  const isTold = alert.told === 'true';
  const isEvery = task.policy.notifyOn === 'every_true';
  // Each message of every_true but the first one of an episode reminds.
  if (isEvery && isTold && isAcknowledged(alert, finding, task)) return nothing(alert, 'still_true');
  if (!isEvery) {
    if (isTold) return remind(alert, finding, task);
    // Nobody wanted to hear of it when it became true: it is told once somebody does, and until then not considered anew.
    const isWanted = alert.held === true || task.paused || subscribes(task, 'triggered');
    if (transition === null && !isWanted) return nothing(alert, 'still_true');
  }
  const message: NotificationIntent = {
    kind: 'triggered',
    dedupKey: isEvery ? `every:${finding.runId}` : `condition:${alert.episode + 1}`,
    reason: isEvery ? 'every_true' : 'became_true',
    transition: isTold ? transition : (transition ?? { kind: 'condition', from: alert.told, to: 'true' }),
  };
  const sent = send(alert, message, finding, task);
  return { ...sent, alert: afterTrigger(sent, task) };
}

function whileFalse(
  { held: _held, ...alert }: AlertState,
  transition: Transition | null,
  finding: Finding,
  task: AlertContext,
): Decided {
  if (alert.told !== 'true') return nothing(alert, 'not_true');
  const message: NotificationIntent = {
    kind: 'recovered',
    dedupKey: `condition:${alert.episode}`,
    reason: 'recovered',
    transition: transition ?? { kind: 'condition', from: 'true', to: 'false' },
  };
  const sent = send(alert, message, finding, task);
  return { ...sent, alert: sent.result === 'held' ? sent.alert : { ...sent.alert, told: 'false' } };
}

/** While values are compared, the condition is not notified: should the policy change, the next run does that. */
function heldForValue(alert: AlertState): AlertState {
  const { held: _held, ...rest } = alert;
  return alert.condition === 'true' && alert.told !== 'true' ? { ...rest, held: true } : rest;
}

export function afterOutcome(before: AlertState, outcome: boolean, finding: Finding, task: AlertContext): Step {
  const alert = withOutcome(before, outcome, task.policy);
  if (task.policy.notifyOn === 'changed') {
    const step = afterValue(before, alert, finding, task);
    return { ...step, alert: heldForValue(step.alert) };
  }
  const transition = transitionBetween(before, alert);
  if (alert.flapping === true) return { ...nothing(alert, 'flapping'), transition };
  if (alert.pending !== undefined) return { ...nothing(alert, 'awaiting_confirmation'), transition };
  const decide = outcome ? whileTrue : whileFalse;
  return { ...decide(alert, transition, finding, task), transition };
}

/** A person asked for this message, whatever holds others back; as any other it says that the condition is true. */
export function withForced(
  alert: AlertState,
  intent: NotificationIntent,
  finding: Finding,
  task: AlertContext,
): AlertState {
  const counted = countMessage(alert, intent, finding, task);
  return counted.condition === 'true' ? opened(counted) : counted;
}
