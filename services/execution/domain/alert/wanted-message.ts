/** Which message a recorded decision is about, told or not: from what stands in the record of the run. Pure. */
import { comparedValue } from '#contracts/compared-value';
import type { Decision, DecisionReason, Policy } from '#contracts/policy';
import type { AlertState, RunResult } from '#contracts/run';

/** All that the words are made of. */
export interface DecidedRun {
  readonly result: Pick<RunResult, 'status' | 'outcome' | 'values' | 'error' | 'dryRun' | 'force' | 'finishedAt'>;
  readonly decision: Decision;
  /** The slot had been decided by a later run before. */
  readonly late: boolean;
  readonly before: AlertState;
  readonly after: AlertState;
  readonly policy: Policy;
}

/** `end_of_error`: the recovery of health. `unknown`: the record does not say. */
export type WantedMessage =
  'became_true' | 'every_true' | 'changed' | 'reminder' | 'recovered' | 'error' | 'end_of_error' | 'forced' | 'unknown';

/** Messages that are called as their reason. */
const told = ['became_true', 'every_true', 'changed', 'reminder', 'forced'] as const;

const gates: readonly DecisionReason[] = [
  'paused',
  'muted',
  'dependency_down',
  'quiet_hours',
  'cooldown',
  'rate_capped',
];

export function isReminderDue({ triggeredAt }: AlertState, now: string, { reminderSeconds }: Policy): boolean {
  if (reminderSeconds === 0 || triggeredAt === undefined) return false;
  return Math.abs(Date.parse(now) - Date.parse(triggeredAt)) >= reminderSeconds * 1_000;
}

/** What the condition, or the value, has to tell in this state, acknowledged or not; null: nothing. */
function ofCondition(alert: AlertState, { result, policy }: DecidedRun): WantedMessage | null {
  if (alert.flapping === true) return null;
  if (policy.notifyOn === 'changed') {
    const { lastValue, pendingValue } = alert;
    const isNew = lastValue !== undefined && lastValue !== comparedValue(result);
    return isNew && (pendingValue?.count ?? policy.confirmations) >= policy.confirmations ? 'changed' : null;
  }
  if (alert.pending !== undefined) return null;
  if (result.outcome !== true) return alert.told === 'true' ? 'recovered' : null;
  if (policy.notifyOn === 'every_true') return 'every_true';
  if (alert.told !== 'true') return 'became_true';
  return isReminderDue(alert, result.finishedAt, policy) ? 'reminder' : null;
}

/** Whether the condition was held back for sure: that somebody had acknowledged it, so that nothing was wanted, is not recorded. */
function isSurelyHeld(wanted: WantedMessage | null, { after, decision: { reason } }: DecidedRun): boolean {
  if (wanted === null) return false;
  if (reason === 'paused' || reason === 'cooldown' || wanted === 'recovered' || wanted === 'changed') return true;
  return after.told !== 'true' && after.held === true;
}

/** What is held back leaves the state that wants it. */
function heldBack(run: DecidedRun): WantedMessage {
  const wanted = ofCondition(run.after, run);
  if (run.after.healthTold && !isSurelyHeld(wanted, run)) return 'end_of_error';
  return wanted ?? 'unknown';
}

/** Of which of both a recovery is that is over, sent or not: of the condition where that was told as true and is no more. */
function recoveryOf({ before, after, decision: { transition } }: DecidedRun): WantedMessage {
  if (before.told === 'true' && after.told === 'false') return 'recovered';
  if (before.healthTold) return 'end_of_error';
  if (transition === null) return 'unknown';
  return transition.kind === 'health' ? 'end_of_error' : 'recovered';
}

/** What no action listens to. Events of earlier versions do not say what it was. */
function unheard(run: DecidedRun): WantedMessage {
  const { result, policy, decision } = run;
  const { kind, reason } = decision.wouldTell ?? {};
  if (kind === 'recovered') return recoveryOf(run);
  if (kind === undefined) {
    if (result.outcome === true) return result.force ? 'forced' : 'unknown';
    return policy.notifyOn === 'changed' ? 'unknown' : recoveryOf(run);
  }
  return told.find((wanted) => wanted === reason) ?? 'unknown';
}

/** null: there was nothing to tell. */
export function wantedMessage(run: DecidedRun): WantedMessage | null {
  const { result, decision } = run;
  const { reason, notify } = decision;
  if (result.outcome === null) return notify || reason === 'no_actions' || gates.includes(reason) ? 'error' : null;
  if (reason === 'no_actions') return unheard(run);
  if (gates.includes(reason)) return heldBack(run);
  return reason === 'recovered' ? recoveryOf(run) : (told.find((wanted) => wanted === reason) ?? null);
}
