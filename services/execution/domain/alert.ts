/** From an outcome to a decision: pure, so that the same results under the same policy always tell the same people. */
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
export interface Listening {
  readonly policy: Policy;
  readonly paused: boolean;
  /** The last revision that edited the code or unpaused. */
  readonly codeRevision: number;
  readonly actions: readonly Pick<StoredAction, 'enabled' | 'on'>[];
}

/** Something to tell. `occasion` makes the delivery's id: the same edge is never told under two ids. */
export interface Telling {
  readonly kind: NotificationKind;
  readonly occasion: string;
  readonly transition: Transition | null;
}

export interface Judgement {
  readonly decision: Decision;
  readonly tellings: readonly Telling[];
  readonly alert: AlertState;
  /** The slot was decided before: kept, without a transition. */
  readonly late: boolean;
}

const runsRemembered = 16;

/** The run has been recorded already, so it is not decided again. */
export function isRecorded(alert: AlertState, runId: string): boolean {
  return alert.recentRuns.includes(runId);
}

interface Step {
  readonly alert: AlertState;
  readonly reason: DecisionReason;
  readonly transition: Transition | null;
  readonly telling: Telling | null;
}

const listens = (task: Listening, kind: NotificationKind): boolean =>
  task.actions.some(({ enabled, on }) => enabled && on.includes(kind));

/** What is worth telling is told if somebody listens and the task is not paused. */
function tell(
  task: Listening,
  kind: NotificationKind,
  occasion: string,
  reason: DecisionReason,
  transition: Transition | null,
): Pick<Step, 'reason' | 'transition' | 'telling'> {
  if (task.paused) return { reason: 'paused', transition, telling: null };
  if (!listens(task, kind)) return { reason: 'no_actions', transition, telling: null };
  return { reason, transition, telling: { kind, occasion, transition } };
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
function afterError(alert: AlertState, task: Listening): Step {
  const consecutiveErrors = alert.consecutiveErrors + 1;
  const counted = { ...alert, consecutiveErrors };
  if (consecutiveErrors < task.policy.errorThreshold && !backsOff(alert)) {
    return { alert: counted, reason: 'error_below_threshold', transition: null, telling: null };
  }
  if (alert.health === 'error') return { alert: counted, reason: 'not_changed', transition: null, telling: null };
  const healthEpisode = alert.healthEpisode + 1;
  const transition: Transition = { kind: 'health', from: 'ok', to: 'error' };
  const told = tell(task, 'error', `health:${healthEpisode}`, 'error_threshold', transition);
  return { ...told, alert: { ...counted, health: 'error', healthEpisode, healthTold: told.telling !== null } };
}

/** The first good run after an error ends it; the end is told where the error was. */
function afterHealthy(alert: AlertState, task: Listening): Step | null {
  const healthy: AlertState = { ...alert, consecutiveErrors: 0, health: 'ok', healthTold: false };
  if (alert.health === 'ok') return null;
  const transition: Transition = { kind: 'health', from: 'error', to: 'ok' };
  if (!alert.healthTold) return { alert: healthy, reason: 'not_changed', transition, telling: null };
  return { ...tell(task, 'recovered', `health:${alert.healthEpisode}`, 'recovered', transition), alert: healthy };
}

/** `became_true`: what is found is compared with what was last told, not with what was last found. */
function afterOutcome(alert: AlertState, outcome: boolean, task: Listening): Step {
  const to = outcome ? 'true' : 'false';
  const found: AlertState = { ...alert, condition: to };
  const transition: Transition | null =
    alert.condition === to ? null : { kind: 'condition', from: alert.condition, to };
  if (outcome) {
    if (alert.told === 'true') return { alert: found, reason: 'still_true', transition, telling: null };
    const episode = alert.episode + 1;
    const told = tell(task, 'triggered', `condition:${episode}`, 'became_true', transition);
    // A paused task was not told: once it goes on, what still holds is news.
    if (told.reason === 'paused') return { ...told, alert: found };
    return { ...told, alert: { ...found, episode, told: 'true' } };
  }
  if (alert.told !== 'true') return { alert: found, reason: 'not_true', transition, telling: null };
  const told = tell(task, 'recovered', `condition:${alert.episode}`, 'recovered', transition);
  if (told.reason === 'paused') return { ...told, alert: found };
  return { ...told, alert: { ...found, told: 'false' } };
}

function judge(alert: AlertState, finding: Finding, task: Listening): readonly Step[] {
  if (finding.isOwnNetwork === true) {
    return [{ alert, reason: 'error_below_threshold', transition: null, telling: null }];
  }
  if (finding.outcome === null) return [afterError(alert, task)];
  const healthy = afterHealthy(alert, task);
  const before = healthy?.alert ?? { ...alert, consecutiveErrors: 0 };
  const step = afterOutcome(before, finding.outcome, task);
  return healthy === null ? [step] : [step, healthy];
}

function remember(alert: AlertState, { runId, trigger, scheduledFor }: Finding, late: boolean): AlertState {
  return {
    ...alert,
    lastSlot: trigger === 'schedule' && !late ? scheduledFor : alert.lastSlot,
    recentRuns: [...alert.recentRuns, runId].slice(-runsRemembered),
  };
}

/** Editing the code or unpausing forgets the condition, but not what people were told. */
function forget(alert: AlertState, codeRevision: number): AlertState {
  if (alert.codeRevision >= codeRevision) return alert;
  const { timesEnded: _timesEnded, ...rest } = alert;
  return { ...rest, condition: 'unknown', codeRevision };
}

function forced(finding: Finding): Telling {
  return { kind: 'triggered', occasion: `forced:${finding.runId}`, transition: null };
}

/** The decision, what is to be told, and what is known afterwards. */
export function decideAlert(before: AlertState, finding: Finding, task: Listening): Judgement {
  const known = forget(before, task.codeRevision);
  const late = finding.trigger === 'schedule' && before.lastSlot !== null && finding.scheduledFor <= before.lastSlot;
  const quiet = (reason: DecisionReason): Decision => ({ notify: false, reason, transition: null });
  if (late) return { decision: quiet('not_changed'), tellings: [], alert: remember(before, finding, late), late };
  if (finding.dryRun) {
    return { decision: quiet('dry_run'), tellings: [], alert: remember(before, finding, late), late };
  }
  const steps = judge(countEnded(known, finding), finding, task);
  const [first] = steps;
  const last = steps.find(({ telling }) => telling !== null) ?? first;
  const alert: AlertState = {
    ...remember(first?.alert ?? known, finding, late),
    previous: { outcome: finding.outcome, values: finding.values, at: finding.finishedAt },
    state: finding.state ?? before.state,
  };
  const tellings = steps.flatMap(({ telling }) => (telling === null ? [] : [telling]));
  if (finding.force && finding.outcome === true && !tellings.some(({ kind }) => kind === 'triggered')) {
    const decision: Decision = { notify: true, reason: 'forced', transition: first?.transition ?? null };
    return { decision, tellings: [...tellings, forced(finding)], alert, late };
  }
  const decision: Decision = {
    notify: tellings.length > 0,
    reason: last?.reason ?? 'not_changed',
    transition: last?.transition ?? null,
  };
  return { decision, tellings, alert, late };
}
