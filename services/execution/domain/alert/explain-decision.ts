/** A recorded decision in words: each rule that was asked on the way, up to the one that ended it. Pure. */
import type { ExplainedStep } from '#contracts/explanation';
import type { Decision, DecisionReason, Policy } from '#contracts/policy';
import { blocks, type AlertState, type RunResult } from '#contracts/run';

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

interface Rule {
  readonly rule: string;
  /** Decisions that end here. */
  readonly ends: readonly DecisionReason[];
  readonly passed: string;
  readonly ended: string;
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const sinceSeconds = (then: string | undefined, now: string): number =>
  then === undefined ? 0 : Math.round(Math.abs(Date.parse(now) - Date.parse(then)) / 1_000);

function notToldAgain({ decision: { transition }, after }: DecidedRun): string {
  if (!after.healthTold) {
    return 'The task could not be checked before. No enabled action listens to errors (`on`): nobody could be told.';
  }
  if (transition === null) return 'The task could not be checked before: that is told once, not at every failed run.';
  if (transition.from === 'ok') return 'The last message had told an error already, and its end was never told.';
  return `Health was \`${transition.from}\` before: that the task cannot be checked is told once.`;
}

function errorRules(run: DecidedRun): readonly Rule[] {
  const { result, after, policy } = run;
  const { errorThreshold } = policy;
  const row = blocks(result.error)
    ? 'This instance refuses what the run needs, and trying again changes nothing: health becomes `blocked` at once'
    : `${plural(after.consecutiveErrors, 'failed run')} in a row, and health becomes \`error\` at ${errorThreshold}`;
  return [
    { rule: 'error_threshold', ends: ['error_below_threshold'], passed: `${row}.`, ended: `${row}: too few yet.` },
    {
      rule: 'not_told_yet',
      ends: ['not_changed'],
      passed: 'This error had not been told yet.',
      ended: notToldAgain(run),
    },
  ];
}

function confirmationRule({ result, after, policy }: DecidedRun): Rule {
  // What differs is confirmed by `confirmations`, whatever the outcome beside it.
  const isChanged = policy.notifyOn === 'changed';
  const field = isChanged || result.outcome === true ? 'confirmations' : 'recoveryConfirmations';
  const needed = policy[field];
  const row = (isChanged ? after.pendingValue?.count : after.pending) ?? needed;
  return {
    rule: 'confirmations',
    ends: ['awaiting_confirmation'],
    passed: needed === 1 ? 'One outcome is enough.' : `${field} asks for ${needed} in a row, and there were as many.`,
    ended: `${field} asks for ${needed} in a row; this was number ${row}.`,
  };
}

function isReminderDue({ triggeredAt }: AlertState, now: string, { reminderSeconds }: Policy): boolean {
  if (reminderSeconds === 0 || triggeredAt === undefined) return false;
  return Math.abs(Date.parse(now) - Date.parse(triggeredAt)) >= reminderSeconds * 1_000;
}

function stillTrue({ before, result, policy }: DecidedRun): string {
  if (before.told !== 'true')
    return 'It was true before, and no enabled action listens to that (`on`): nobody could be told.';
  // Nothing else keeps a message back that is due here.
  if (policy.notifyOn === 'every_true' || isReminderDue(before, result.finishedAt, policy)) {
    return 'It was true before and has been told, and somebody has acknowledged it: nothing more is sent until it ends or the time of that is over.';
  }
  if (policy.reminderSeconds === 0) return 'It was true before and has been told: `became_true` tells it once.';
  const seconds = sinceSeconds(before.triggeredAt, result.finishedAt);
  return `It was true before and has been told ${seconds} s ago; reminders come every ${policy.reminderSeconds} s.`;
}

const becameWords: Readonly<Partial<Record<DecisionReason, string>>> = {
  reminder: 'The condition is still true, and a reminder was due.',
  recovered: 'The condition is not true any more, and that it was true has been told.',
  every_true: 'The condition is true, and the policy tells every run that finds it so.',
};

function flappingRule({ after, policy }: DecidedRun): Rule {
  const outcomes = after.outcomes ?? '';
  const shown = outcomes.replaceAll('t', '+').replaceAll('f', '-');
  return {
    rule: 'flapping',
    ends: ['flapping'],
    passed: policy.flapWindow === 0 ? 'Flapping is not looked for.' : 'The outcomes are calm.',
    ended: `The last ${plural(outcomes.length, 'outcome')} changed too often (${shown}).`,
  };
}

function outcomeRules(run: DecidedRun): readonly Rule[] {
  const { decision, policy, result } = run;
  const isHealth = decision.transition?.kind === 'health' && decision.reason === 'recovered';
  if (isHealth) {
    const passed = 'The first good run after an error that was told: the end is told too.';
    return [{ rule: 'health', ends: [], passed, ended: passed }];
  }
  if (policy.notifyOn === 'changed') {
    const passed = 'The value, or the outcome where none is reported, differs from the last one.';
    const ended = 'The value, or the outcome where none is reported, is as before, or is the first of all.';
    const changed: Rule = { rule: 'changed', ends: ['not_changed'], passed, ended };
    return [changed, flappingRule(run), confirmationRule(run)];
  }
  return [
    flappingRule(run),
    confirmationRule(run),
    {
      rule: 'condition',
      ends: ['not_true', 'still_true', 'not_changed'],
      passed: becameWords[decision.reason] ?? 'The condition is true, and that had not been told.',
      ended: result.outcome === true ? stillTrue(run) : 'The condition is not true.',
    },
  ];
}

function unheardWords({ wouldTell }: Decision): string {
  if (wouldTell === undefined) return 'No enabled action listens to this kind of message (`on`).';
  const { kind, reason } = wouldTell;
  return `It would have told "${kind}" (${reason}), but no enabled action listens to that (\`on\`).`;
}

function gateRules({ before, result, policy, decision }: DecidedRun): readonly Rule[] {
  const { cooldownSeconds, maxPerHour, quietHours, dependsOn } = policy;
  const seconds = sinceSeconds(before.triggeredAt, result.finishedAt);
  return [
    { rule: 'paused', ends: ['paused'], passed: 'The task is not paused.', ended: 'The task is paused.' },
    { rule: 'muted', ends: ['muted'], passed: 'The policy is not muted.', ended: 'The policy is muted.' },
    {
      rule: 'dependencies',
      ends: ['dependency_down'],
      passed: dependsOn.length === 0 ? 'It depends on no other task.' : 'No task that it depends on is down.',
      ended: 'A task that it depends on is true or cannot be checked. It is told afterwards if it still holds.',
    },
    {
      rule: 'quiet_hours',
      ends: ['quiet_hours'],
      passed: quietHours.length === 0 ? 'There are no quiet hours.' : 'It is outside of the quiet hours.',
      ended: 'It is within the quiet hours. It is told afterwards if it still holds.',
    },
    {
      rule: 'cooldown',
      ends: ['cooldown'],
      passed: cooldownSeconds === 0 ? 'There is no cooldown.' : `The cooldown of ${cooldownSeconds} s is over.`,
      ended: `The last trigger was ${seconds} s ago, and the cooldown is ${cooldownSeconds} s.`,
    },
    {
      rule: 'hourly_cap',
      ends: ['rate_capped'],
      passed: maxPerHour === 0 ? 'There is no hourly limit.' : `Fewer than ${maxPerHour} messages in the last hour.`,
      ended: `There were ${maxPerHour} messages in the last hour, which is the limit.`,
    },
    {
      rule: 'actions',
      ends: ['no_actions'],
      passed: 'An enabled action listens to this kind of message.',
      ended: unheardWords(decision),
    },
  ];
}

function rulesOf(run: DecidedRun): readonly Rule[] {
  const { result, late } = run;
  const first: readonly Rule[] = [
    {
      rule: 'dry_run',
      ends: ['dry_run'],
      passed: 'It was no dry run.',
      ended: 'It was a dry run, which sends nothing and changes nothing.',
    },
  ];
  const order: Rule = {
    rule: 'order',
    ends: ['not_changed'],
    passed: 'No later slot had been decided before.',
    ended: 'A later slot had been decided before this one came in.',
  };
  if (late) return [order];
  if (result.force && run.decision.reason === 'forced') {
    const passed = 'It was forced and its outcome is true: that is sent whatever the policy says.';
    return [...first, { rule: 'force', ends: [], passed, ended: passed }];
  }
  return [...first, ...(result.outcome === null ? errorRules(run) : outcomeRules(run)), ...gateRules(run)];
}

function runStep({ result }: DecidedRun): ExplainedStep {
  const { outcome, error } = result;
  if (outcome !== null) {
    const value = result.values['value'];
    const shown = value === undefined ? '' : `, with the value ${JSON.stringify(value).slice(0, 200)}`;
    return { rule: 'run', passed: true, message: `The page was read and the code answered ${outcome}${shown}.` };
  }
  return { rule: 'run', passed: true, message: `The run failed: ${error?.message ?? 'it has no result.'}` };
}

/** The first step that did not pass is the one that the recorded decision names. */
export function explainDecision(run: DecidedRun): readonly ExplainedStep[] {
  const { notify, reason } = run.decision;
  const steps: ExplainedStep[] = [runStep(run)];
  for (const { rule, ends, passed, ended } of rulesOf(run)) {
    const hasEnded = !notify && ends.includes(reason);
    steps.push({ rule, passed: !hasEnded, message: hasEnded ? ended : passed });
    if (hasEnded) return steps;
  }
  return steps;
}
