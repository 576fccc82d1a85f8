/** Errors: they never change the condition; they have an edge of their own. */
import type { Health, Transition } from '#contracts/policy';
import { backsOff, type AlertState } from '#contracts/run';
import { send, subscribes } from './message.js';
import type { AlertContext, Finding, Step } from './step.js';

/** From so long on, runs that fail because the network on this side is down count as errors of the task. */
const ownNetworkGraceMs = 15 * 60_000;

function turned(from: Health, to: Health): Transition {
  return { kind: 'health', from, to };
}

/**
 * Whether there is something to say of an error. What was told is not told again; nor is an error whose end was held back and
 * that is there again. One that nobody listened to is told once somebody does, and until then not considered anew.
 */
function isToBeTold(alert: AlertState, task: AlertContext): boolean {
  if (alert.healthTold) return false;
  return alert.health === 'ok' || alert.healthHeld === true || subscribes(task, 'error');
}

/**
 * At `errorThreshold` in a row health becomes `error`, and at once where the task backs off; `blocked` at the first run that
 * this instance refuses. Either is told as an error, and once: what turns from one into the other was told before.
 */
export function afterError(alert: AlertState, finding: Finding, task: AlertContext): Step {
  const consecutiveErrors = alert.consecutiveErrors + 1;
  const counted = { ...alert, consecutiveErrors };
  const isBlocked = finding.isBlocked === true;
  const intent = null;
  if (!isBlocked && consecutiveErrors < task.policy.errorThreshold && !backsOff(alert)) {
    return { alert: counted, reason: 'error_below_threshold', transition: null, intent };
  }
  const health = isBlocked ? 'blocked' : 'error';
  const transition = alert.health === health ? null : turned(alert.health, health);
  const failing: AlertState = { ...counted, health };
  const isNew = alert.health === 'ok';
  if (!isToBeTold(alert, task)) return { alert: failing, reason: 'not_changed', transition, intent };
  const { healthHeld: _healthHeld, ...episode } = {
    ...failing,
    healthEpisode: alert.healthEpisode + (isNew ? 1 : 0),
  };
  const message = {
    kind: 'error',
    dedupKey: `health:${episode.healthEpisode}`,
    reason: 'error_threshold',
    transition: turned('ok', health),
  } as const;
  const sent = send(episode, message, finding, task);
  return {
    alert: {
      ...sent.alert,
      healthTold: sent.result === 'sent',
      ...(sent.result === 'held' ? { healthHeld: true } : {}),
    },
    reason: sent.reason,
    transition,
    intent: sent.intent,
    ...(sent.unheard === undefined ? {} : { unheard: sent.unheard }),
  };
}

/** The first good run after an error ends it; its recovery is notified where the error was. null: health was well already. */
export function afterHealthy(alert: AlertState, finding: Finding, task: AlertContext): Step | null {
  if (alert.health === 'ok' && !alert.healthTold) return null;
  const { healthHeld: _healthHeld, ...rest } = alert;
  const healthy: AlertState = { ...rest, consecutiveErrors: 0, health: 'ok' };
  const transition = alert.health === 'ok' ? null : turned(alert.health, 'ok');
  if (!alert.healthTold) return { alert: healthy, reason: 'not_changed', transition, intent: null };
  const message = {
    kind: 'recovered',
    dedupKey: `health:${alert.healthEpisode}`,
    reason: 'recovered',
    // Where the end was held back, health is well already, and as what it was told is not known any more.
    transition: transition ?? turned('error', 'ok'),
  } as const;
  const sent = send(healthy, message, finding, task);
  return {
    alert: { ...sent.alert, healthTold: sent.result === 'held' },
    reason: sent.reason,
    transition,
    intent: sent.intent,
    ...(sent.unheard === undefined ? {} : { unheard: sent.unheard }),
  };
}

/** An outage on this side is no error of the page; one that lasts keeps the owner from seeing it, which is. */
export function afterOwnNetwork(alert: AlertState, finding: Finding, task: AlertContext): Step {
  const { finishedAt } = finding;
  const since = alert.ownNetworkSince ?? finishedAt;
  const lasting = { ...alert, ownNetworkSince: since };
  if (Date.parse(finishedAt) - Date.parse(since) >= ownNetworkGraceMs) return afterError(lasting, finding, task);
  return { alert: lasting, reason: 'error_below_threshold', transition: null, intent: null };
}
