/** From a message that a rule wants to an intent, or to what holds it back. Every message passes here, in the same order. */
import type { NotificationKind } from '#contracts/action';
import type { DecisionReason } from '#contracts/policy';
import type { AlertState } from '#contracts/run';
import { isQuiet } from './quiet-hours.js';
import { apartMs, type AlertContext, type Finding, type NotificationIntent, type Step } from './step.js';

const hourMs = 3_600_000;

/** `held`: it is wanted again by the next run, if it still holds then. `unheard`: no action subscribes, so it is over. */
export type Sent = {
  readonly alert: AlertState;
  readonly reason: DecisionReason;
  readonly intent: NotificationIntent | null;
  readonly result: 'sent' | 'held' | 'unheard';
} & Pick<Step, 'unheard'>;

/** Says that a notification is new: these alone are held back by a cooldown. */
const triggers: readonly DecisionReason[] = ['became_true', 'every_true', 'changed'];

export function subscribes({ actions }: AlertContext, kind: NotificationKind): boolean {
  return actions.some(({ enabled, on }) => enabled && on.includes(kind));
}

function inTheHourBefore({ notifiedAt = [] }: AlertState, { finishedAt }: Finding): readonly string[] {
  return notifiedAt.filter((at) => apartMs(at, finishedAt) < hourMs);
}

/** Why this message must not go out now; null: it may. */
function heldBackBy(
  alert: AlertState,
  { reason }: NotificationIntent,
  finding: Finding,
  { policy, isDependencyDown }: AlertContext,
): DecisionReason | null {
  const { muted, quietHours, cooldownSeconds, maxPerHour } = policy;
  const { finishedAt } = finding;
  if (muted) return 'muted';
  if (isDependencyDown) return 'dependency_down';
  if (isQuiet(quietHours, finishedAt)) return 'quiet_hours';
  const { triggeredAt } = alert;
  const isTrigger = triggers.includes(reason);
  if (isTrigger && triggeredAt !== undefined && apartMs(triggeredAt, finishedAt) < cooldownSeconds * 1_000) {
    return 'cooldown';
  }
  return maxPerHour > 0 && inTheHourBefore(alert, finding).length >= maxPerHour ? 'rate_capped' : null;
}

/** The state after a message went out: what cooldown, reminders and the hourly cap count from. */
export function countMessage(
  alert: AlertState,
  { kind }: Pick<NotificationIntent, 'kind'>,
  finding: Finding,
  { policy }: AlertContext,
): AlertState {
  const { cooldownSeconds, reminderSeconds, maxPerHour } = policy;
  const { finishedAt } = finding;
  const isTimed = kind === 'triggered' && (cooldownSeconds > 0 || reminderSeconds > 0);
  return {
    ...alert,
    ...(isTimed ? { triggeredAt: finishedAt } : {}),
    ...(maxPerHour > 0 ? { notifiedAt: [...inTheHourBefore(alert, finding), finishedAt] } : {}),
  };
}

/** A policy that has no cooldown, no reminders, no cap or no value any more leaves nothing of them behind. */
export function withoutUnused(alert: AlertState, { policy }: AlertContext): AlertState {
  const { triggeredAt, notifiedAt, lastValue, pendingValue, ...rest } = alert;
  const { cooldownSeconds, reminderSeconds, maxPerHour, notifyOn } = policy;
  const keepsTime = triggeredAt !== undefined && (cooldownSeconds > 0 || reminderSeconds > 0);
  return {
    ...rest,
    ...(keepsTime ? { triggeredAt } : {}),
    ...(notifiedAt !== undefined && maxPerHour > 0 ? { notifiedAt } : {}),
    ...(lastValue !== undefined && notifyOn === 'changed' ? { lastValue } : {}),
    ...(pendingValue !== undefined && notifyOn === 'changed' ? { pendingValue } : {}),
  };
}

/**
 * A recovery that no action subscribes to is over whatever else holds: otherwise it would keep back the next trigger. Any other
 * message is held back first, so that a task that is muted says so with or without actions.
 */
export function send(alert: AlertState, message: NotificationIntent, finding: Finding, task: AlertContext): Sent {
  const { kind, reason } = message;
  const unheard: Sent = { alert, reason: 'no_actions', intent: null, result: 'unheard', unheard: { kind, reason } };
  if (task.paused) return { alert, reason: 'paused', intent: null, result: 'held' };
  const isHeard = subscribes(task, message.kind);
  if (!isHeard && message.kind === 'recovered') return unheard;
  const held = heldBackBy(alert, message, finding, task);
  if (held !== null) return { alert, reason: held, intent: null, result: 'held' };
  if (!isHeard) return unheard;
  const counted = countMessage(alert, message, finding, task);
  return { alert: counted, reason: message.reason, intent: message, result: 'sent' };
}
