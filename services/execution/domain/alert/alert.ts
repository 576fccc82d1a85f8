/** From an outcome to a decision: pure, so that the same results under the same policy always make the same notifications. */
import type { Decision, DecisionReason } from '#contracts/policy';
import { backsOff, rememberedRun, type AlertState } from '#contracts/run';
import { withoutOutcomes } from './condition.js';
import { afterError, afterHealthy, afterOwnNetwork } from './health.js';
import { countNumbers, lostValue } from './lost-value.js';
import { subscribes, withoutUnused } from './message.js';
import { afterOutcome, withForced } from './outcome.js';
import type { AlertContext, Finding, NotificationIntent, Step } from './step.js';

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

export interface AlertDecision {
  readonly decision: Decision;
  readonly intents: readonly NotificationIntent[];
  readonly alert: AlertState;
  /** The slot was decided before: kept, without a transition. */
  readonly late: boolean;
  /** The value whose number is missing, which makes the run an error; null: none. */
  readonly lost: string | null;
}

const maxRecentRuns = 16;

/** Why a message that is wanted does not go out: that says more than what was decided of the other part of the run. */
const holds: readonly DecisionReason[] = ['muted', 'dependency_down', 'quiet_hours', 'cooldown', 'rate_capped'];

/** Of two parts of a run the one that has a message, else the one that would have had one, else the condition. */
function decisiveOf(steps: readonly [Step, ...Step[]]): Step {
  return (
    steps.find(({ intent }) => intent !== null) ??
    steps.find(({ reason }) => holds.includes(reason)) ??
    steps.find(({ reason }) => reason === 'no_actions') ??
    steps[0]
  );
}

/** How many runs in a row had to be ended: another failure ends the row, unless it is so long that only a good run does. */
function countEnded(alert: AlertState, { endedFromOutside, outcome }: Finding): AlertState {
  const { timesEnded = 0, ...rest } = alert;
  if (endedFromOutside) return { ...rest, timesEnded: timesEnded + 1 };
  return outcome === null && backsOff(alert) ? alert : rest;
}

/** Of the condition first, then of health. The first one has the state after both. */
function stepsAfter(before: AlertState, finding: Finding, task: AlertContext): readonly [Step, ...Step[]] {
  if (finding.isOwnNetwork === true) return [afterOwnNetwork(before, finding, task)];
  const { ownNetworkSince: _ownNetworkSince, ...alert } = before;
  if (finding.outcome === null) return [afterError(alert, finding, task)];
  const healthy = afterHealthy(alert, finding, task);
  const recovered = healthy?.alert ?? { ...alert, consecutiveErrors: 0 };
  const step = afterOutcome(recovered, finding.outcome, finding, task);
  return healthy === null ? [step] : [step, healthy];
}

function remember(alert: AlertState, { runId, trigger, scheduledFor }: Finding, late: boolean): AlertState {
  return {
    ...alert,
    lastSlot: trigger === 'schedule' && !late ? scheduledFor : alert.lastSlot,
    recentRuns: [...alert.recentRuns, rememberedRun(runId)].slice(-maxRecentRuns),
  };
}

/** Editing the code or unpausing forgets the condition, but not the outcome last notified. */
function forget(alert: AlertState, codeRevision: number): AlertState {
  if (alert.codeRevision >= codeRevision) return alert;
  const { timesEnded: _timesEnded, numbers: _numbers, ...rest } = withoutOutcomes(alert);
  return { ...rest, codeRevision };
}

/** The decision, the notifications to make, and the alert state afterwards. */
export function decideAlert(before: AlertState, found: Finding, task: AlertContext): AlertDecision {
  const expected = found.outcome === null ? before : forget(before, task.codeRevision);
  const lost = found.outcome === null ? null : lostValue(expected, found.values);
  const finding = lost === null ? found : { ...found, outcome: null, state: null };
  return { ...decide(before, finding, task), lost };
}

function decide(before: AlertState, finding: Finding, task: AlertContext): Omit<AlertDecision, 'lost'> {
  const late = finding.trigger === 'schedule' && before.lastSlot !== null && finding.scheduledFor <= before.lastSlot;
  const quiet = (reason: DecisionReason): Decision => ({ notify: false, reason, transition: null });
  if (late) return { decision: quiet('not_changed'), intents: [], alert: remember(before, finding, late), late };
  if (finding.dryRun) {
    return { decision: quiet('dry_run'), intents: [], alert: remember(before, finding, late), late };
  }
  const known = withoutUnused(forget(before, task.codeRevision), task);
  const steps = stepsAfter(countEnded(known, finding), finding, task);
  const [first] = steps;
  const counted = finding.outcome === null ? first.alert : countNumbers(first.alert, finding.values);
  const alert: AlertState = {
    ...remember(counted, finding, late),
    previous: { outcome: finding.outcome, values: finding.values, at: finding.finishedAt },
    state: finding.state ?? before.state,
  };
  const intents = steps.flatMap(({ intent }) => (intent === null ? [] : [intent]));
  if (finding.force && finding.outcome === true && !intents.some(({ kind }) => kind === 'triggered')) {
    const forced: NotificationIntent = {
      kind: 'triggered',
      dedupKey: `forced:${finding.runId}`,
      reason: 'forced',
      transition: null,
    };
    const { transition } = first;
    if (subscribes(task, 'triggered')) {
      const decision: Decision = { notify: true, reason: 'forced', transition };
      return { decision, intents: [...intents, forced], alert: withForced(alert, forced, finding, task), late };
    }
    if (intents.length === 0)
      return {
        decision: {
          notify: false,
          reason: 'no_actions',
          transition,
          wouldTell: { kind: 'triggered', reason: 'forced' },
        },
        intents,
        alert,
        late,
      };
  }
  const { reason, transition, unheard } = decisiveOf(steps);
  const changed = transition ?? steps.find((step) => step.transition !== null)?.transition ?? null;
  const wouldTell = reason === 'no_actions' && unheard !== undefined ? { wouldTell: unheard } : {};
  return { decision: { notify: intents.length > 0, reason, transition: changed, ...wouldTell }, intents, alert, late };
}
