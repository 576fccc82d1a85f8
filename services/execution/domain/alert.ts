/** From an outcome to a decision: pure, so that the same results under the same policy always make the same notifications. */
import type { NotificationKind, StoredAction } from '#contracts/action';
import type { Decision, DecisionReason, Policy, Transition } from '#contracts/policy';
import { backsOff, type AlertState } from '#contracts/run';
import type { JsonObject } from '#runtime/json';

export const initialAlert: AlertState = {
  condition: 'unknown',
  told: 'unknown',
  health: 'ok',
  consecutiveErrors: 0,
  episode: 0,
  healthEpisode: 0,
  healthTold: false,
  codeRevision: 0,
  lastSlot: null,
  recentRuns: [],
  previous: null,
  state: {},
};

/** What was found: an outcome, or an error (`outcome` null). */
export interface Finding {
  readonly runId: string;
  readonly trigger: 'schedule' | 'manual';
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly scheduledFor: string;
  readonly finishedAt: string;
  readonly outcome: boolean | null;
  readonly values: JsonObject;
  /** `page.state` after the run; null: the old one stays. */
  readonly state: JsonObject | null;
  /** The thread or process that ran it had to be ended. */
  readonly endedFromOutside: boolean;
  /** The network on this side failed, which says nothing of the page. */
  readonly isOwnNetwork?: boolean;
}

/** What of a task bears on the decision. */
export interface AlertContext {
  readonly policy: Policy;
  readonly paused: boolean;
  /** The last revision that edited the code or unpaused. */
  readonly codeRevision: number;
  readonly actions: readonly Pick<StoredAction, 'enabled' | 'on'>[];
}

/** A notification to make. `dedupKey` makes the delivery's id: one edge never gets two ids. */
export interface NotificationIntent {
  readonly kind: NotificationKind;
  readonly dedupKey: string;
  readonly transition: Transition | null;
}

export interface AlertDecision {
  readonly decision: Decision;
  readonly intents: readonly NotificationIntent[];
  readonly alert: AlertState;
  /** The slot was decided before: kept, without a transition. */
  readonly late: boolean;
}

const maxRecentRuns = 16;
/** From so long on, runs that fail because the network on this side is down count as errors of the task. */
const ownNetworkGraceMs = 15 * 60_000;

/** The run has been recorded already, so it is not decided again. */
export function isRecorded(alert: AlertState, runId: string): boolean {
  return alert.recentRuns.includes(runId);
}

interface Step {
  readonly alert: AlertState;
  readonly reason: DecisionReason;
  readonly transition: Transition | null;
  readonly intent: NotificationIntent | null;
}

const subscribes = (task: AlertContext, kind: NotificationKind): boolean =>
  task.actions.some(({ enabled, on }) => enabled && on.includes(kind));

/** Emits an intent unless the task is paused or no enabled action subscribes. */
function notify(
  task: AlertContext,
  kind: NotificationKind,
  dedupKey: string,
  reason: DecisionReason,
  transition: Transition | null,
): Pick<Step, 'reason' | 'transition' | 'intent'> {
  if (task.paused) return { reason: 'paused', transition, intent: null };
  if (!subscribes(task, kind)) return { reason: 'no_actions', transition, intent: null };
  return { reason, transition, intent: { kind, dedupKey, transition } };
}

/** How many runs in a row had to be ended: another failure ends the row, unless it is so long that only a good run does. */
function countEnded(alert: AlertState, { endedFromOutside, outcome }: Finding): AlertState {
  const { timesEnded = 0, ...rest } = alert;
  if (endedFromOutside) return { ...rest, timesEnded: timesEnded + 1 };
  return outcome === null && backsOff(alert) ? alert : rest;
}

/**
 * Errors never change the condition; they have an edge of their own at `errorThreshold` in a row, and at once where the
 * task backs off.
 */
function afterError(alert: AlertState, task: AlertContext): Step {
  const consecutiveErrors = alert.consecutiveErrors + 1;
  const counted = { ...alert, consecutiveErrors };
  if (consecutiveErrors < task.policy.errorThreshold && !backsOff(alert)) {
    return { alert: counted, reason: 'error_below_threshold', transition: null, intent: null };
  }
  if (alert.health === 'error') return { alert: counted, reason: 'not_changed', transition: null, intent: null };
  const healthEpisode = alert.healthEpisode + 1;
  const transition: Transition = { kind: 'health', from: 'ok', to: 'error' };
  const step = notify(task, 'error', `health:${healthEpisode}`, 'error_threshold', transition);
  return { ...step, alert: { ...counted, health: 'error', healthEpisode, healthTold: step.intent !== null } };
}

/** The first good run after an error ends it; recovery notifies where the error did. */
function afterHealthy(alert: AlertState, task: AlertContext): Step | null {
  const healthy: AlertState = { ...alert, consecutiveErrors: 0, health: 'ok', healthTold: false };
  if (alert.health === 'ok') return null;
  const transition: Transition = { kind: 'health', from: 'error', to: 'ok' };
  if (!alert.healthTold) return { alert: healthy, reason: 'not_changed', transition, intent: null };
  return { ...notify(task, 'recovered', `health:${alert.healthEpisode}`, 'recovered', transition), alert: healthy };
}

/** `became_true`: the outcome is compared with the one last notified, not with the last outcome. */
function afterOutcome(alert: AlertState, outcome: boolean, task: AlertContext): Step {
  const to = outcome ? 'true' : 'false';
  const { told: lastNotified } = alert;
  const found: AlertState = { ...alert, condition: to };
  const transition: Transition | null =
    alert.condition === to ? null : { kind: 'condition', from: alert.condition, to };
  if (outcome) {
    if (lastNotified === 'true') return { alert: found, reason: 'still_true', transition, intent: null };
    const episode = alert.episode + 1;
    const step = notify(task, 'triggered', `condition:${episode}`, 'became_true', transition);
    // A paused task notifies no one: once it is resumed, a condition that still holds notifies.
    if (step.reason === 'paused') return { ...step, alert: found };
    return { ...step, alert: { ...found, episode, told: 'true' } };
  }
  if (lastNotified !== 'true') return { alert: found, reason: 'not_true', transition, intent: null };
  const step = notify(task, 'recovered', `condition:${alert.episode}`, 'recovered', transition);
  if (step.reason === 'paused') return { ...step, alert: found };
  return { ...step, alert: { ...found, told: 'false' } };
}

/** An outage on this side is no error of the page; one that lasts keeps the owner from seeing it, which is. */
function afterOwnNetwork(alert: AlertState, { finishedAt }: Finding, task: AlertContext): Step {
  const since = alert.ownNetworkSince ?? finishedAt;
  const lasting = { ...alert, ownNetworkSince: since };
  if (Date.parse(finishedAt) - Date.parse(since) >= ownNetworkGraceMs) return afterError(lasting, task);
  return { alert: lasting, reason: 'error_below_threshold', transition: null, intent: null };
}

function stepsAfter(before: AlertState, finding: Finding, task: AlertContext): readonly Step[] {
  if (finding.isOwnNetwork === true) return [afterOwnNetwork(before, finding, task)];
  const { ownNetworkSince: _ownNetworkSince, ...alert } = before;
  if (finding.outcome === null) return [afterError(alert, task)];
  const healthy = afterHealthy(alert, task);
  const recovered = healthy?.alert ?? { ...alert, consecutiveErrors: 0 };
  const step = afterOutcome(recovered, finding.outcome, task);
  return healthy === null ? [step] : [step, healthy];
}

function remember(alert: AlertState, { runId, trigger, scheduledFor }: Finding, late: boolean): AlertState {
  return {
    ...alert,
    lastSlot: trigger === 'schedule' && !late ? scheduledFor : alert.lastSlot,
    recentRuns: [...alert.recentRuns, runId].slice(-maxRecentRuns),
  };
}

/** Editing the code or unpausing forgets the condition, but not the outcome last notified. */
function forget(alert: AlertState, codeRevision: number): AlertState {
  if (alert.codeRevision >= codeRevision) return alert;
  const { timesEnded: _timesEnded, ...rest } = alert;
  return { ...rest, condition: 'unknown', codeRevision };
}

function forced(finding: Finding): NotificationIntent {
  return { kind: 'triggered', dedupKey: `forced:${finding.runId}`, transition: null };
}

/** The decision, the notifications to make, and the alert state afterwards. */
export function decideAlert(before: AlertState, finding: Finding, task: AlertContext): AlertDecision {
  const known = forget(before, task.codeRevision);
  const late = finding.trigger === 'schedule' && before.lastSlot !== null && finding.scheduledFor <= before.lastSlot;
  const quiet = (reason: DecisionReason): Decision => ({ notify: false, reason, transition: null });
  if (late) return { decision: quiet('not_changed'), intents: [], alert: remember(before, finding, late), late };
  if (finding.dryRun) {
    return { decision: quiet('dry_run'), intents: [], alert: remember(before, finding, late), late };
  }
  const steps = stepsAfter(countEnded(known, finding), finding, task);
  const [first] = steps;
  const last = steps.find(({ intent }) => intent !== null) ?? first;
  const alert: AlertState = {
    ...remember(first?.alert ?? known, finding, late),
    previous: { outcome: finding.outcome, values: finding.values, at: finding.finishedAt },
    state: finding.state ?? before.state,
  };
  const intents = steps.flatMap(({ intent }) => (intent === null ? [] : [intent]));
  if (finding.force && finding.outcome === true && !intents.some(({ kind }) => kind === 'triggered')) {
    const decision: Decision = { notify: true, reason: 'forced', transition: first?.transition ?? null };
    return { decision, intents: [...intents, forced(finding)], alert, late };
  }
  const decision: Decision = {
    notify: intents.length > 0,
    reason: last?.reason ?? 'not_changed',
    transition: last?.transition ?? null,
  };
  return { decision, intents, alert, late };
}
