/** Errors: they never change the condition; they have an edge of their own. */
import type { Transition } from '#contracts/policy';
import { backsOff, type AlertState } from '#contracts/run';
import { send } from './message.js';
import type { AlertContext, Finding, Step } from './step.js';

/** From so long on, runs that fail because the network on this side is down count as errors of the task. */
const ownNetworkGraceMs = 15 * 60_000;

const broke: Transition = { kind: 'health', from: 'ok', to: 'error' };
const mended: Transition = { kind: 'health', from: 'error', to: 'ok' };

/** At `errorThreshold` in a row health becomes `error`, and at once where the task backs off. */
export function afterError(alert: AlertState, finding: Finding, task: AlertContext): Step {
  const consecutiveErrors = alert.consecutiveErrors + 1;
  const counted = { ...alert, consecutiveErrors };
  const intent = null;
  if (consecutiveErrors < task.policy.errorThreshold && !backsOff(alert)) {
    return { alert: counted, reason: 'error_below_threshold', transition: null, intent };
  }
  const transition = alert.health === 'ok' ? broke : null;
  const failing: AlertState = { ...counted, health: 'error' };
  // What was notified last is an error, of which the end was held back: there is nothing new to say.
  if (alert.healthTold) return { alert: failing, reason: 'not_changed', transition, intent };
  if (transition === null && alert.healthHeld !== true) {
    return { alert: failing, reason: 'not_changed', transition, intent };
  }
  const { healthHeld: _healthHeld, ...episode } = {
    ...failing,
    healthEpisode: alert.healthEpisode + (transition === null ? 0 : 1),
  };
  const message = {
    kind: 'error',
    dedupKey: `health:${episode.healthEpisode}`,
    reason: 'error_threshold',
    transition: broke,
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
  const transition = alert.health === 'error' ? mended : null;
  if (!alert.healthTold) return { alert: healthy, reason: 'not_changed', transition, intent: null };
  const message = {
    kind: 'recovered',
    dedupKey: `health:${alert.healthEpisode}`,
    reason: 'recovered',
    transition: mended,
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
