/** From outcomes to the condition: confirmations and flapping. */
import type { Condition, Policy, Transition } from '#contracts/policy';
import type { AlertState } from '#contracts/run';

/** As users see it. */
function shownCondition({ condition, flapping }: AlertState): Condition {
  return flapping === true ? 'flapping' : condition;
}

export function transitionBetween(before: AlertState, after: AlertState): Transition | null {
  const from = shownCondition(before);
  const to = shownCondition(after);
  return from === to ? null : { kind: 'condition', from, to };
}

/** How many outcomes in a row make this one the condition. After an edit the one notified last needs no other proof. */
function neededFor(outcome: boolean, { condition, told }: AlertState, policy: Policy): number {
  if (condition === 'unknown' && (told === 'true') === outcome) return 1;
  return outcome ? policy.confirmations : policy.recoveryConfirmations;
}

/**
 * Only an outcome ends a row: a run that failed says nothing of the condition, neither for it nor against it. Whatever the
 * condition, one of both outcomes is taken at once, so that a row is always of the other one.
 */
function confirm(alert: AlertState, outcome: boolean, policy: Policy): AlertState {
  const { pending = 0, ...settled } = alert;
  const condition = outcome ? 'true' : 'false';
  if (alert.condition === condition) return settled;
  const count = pending + 1;
  return count >= neededFor(outcome, alert, policy) ? { ...settled, condition } : { ...settled, pending: count };
}

function changesIn(outcomes: string): number {
  return outcomes.match(/t(?=f)|f(?=t)/g)?.length ?? 0;
}

/** The outcomes themselves are looked at, confirmed or not. Two bounds: what has begun must calm down before it is over. */
function watchFlapping(alert: AlertState, outcome: boolean, { flapWindow }: Policy): AlertState {
  const { outcomes = '', flapping = false, ...rest } = alert;
  if (flapWindow === 0) return rest;
  const last = `${outcomes}${outcome ? 't' : 'f'}`.slice(-flapWindow);
  const changes = changesIn(last);
  const isFlapping = flapping ? changes > flapWindow / 4 : changes >= flapWindow / 2;
  return { ...rest, outcomes: last, ...(isFlapping ? { flapping: true } : {}) };
}

/** The state with the condition that this outcome leaves behind. */
export function withOutcome(alert: AlertState, outcome: boolean, policy: Policy): AlertState {
  return watchFlapping(confirm(alert, outcome, policy), outcome, policy);
}

/** Outcomes of other code, or from before a pause, prove nothing of the present. What was notified stays notified. */
export function withoutOutcomes(alert: AlertState): AlertState {
  const { pending: _pending, outcomes: _outcomes, flapping: _flapping, ...rest } = alert;
  return { ...rest, condition: 'unknown' };
}
