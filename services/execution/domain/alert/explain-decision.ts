/** A recorded decision in words: each rule that was asked on the way, up to the one that ended it. Pure. */
import type { ExplainedStep } from '#contracts/explanation';
import type { Decision, DecisionReason } from '#contracts/policy';
import { backsOff, backsOffAfter, blocks } from '#contracts/run';
import { isReminderDue, wantedMessage, type DecidedRun, type WantedMessage } from './wanted-message.js';

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

function thresholdWords({ result, after, policy }: DecidedRun): Pick<Rule, 'passed' | 'ended'> {
  const { errorThreshold } = policy;
  const row = blocks(result.error)
    ? 'This instance refuses what the run needs, and trying again changes nothing: health becomes `blocked` at once'
    : `${plural(after.consecutiveErrors, 'failed run')} in a row, and health becomes \`error\` at ${errorThreshold}`;
  const words = { passed: `${row}.`, ended: `${row}: too few yet.` };
  if (result.error?.reason === 'own_network') {
    const ended =
      'The network on this side is down, which says nothing of the page: it counts as an error from 15 minutes on.';
    return { ...words, ended };
  }
  if (!backsOff(after) || after.consecutiveErrors >= errorThreshold) return words;
  const passed = `At least ${backsOffAfter} runs in a row had to be ended from outside: health becomes \`error\` at once.`;
  return { ...words, passed };
}

function errorRules(run: DecidedRun): readonly Rule[] {
  return [
    { rule: 'error_threshold', ends: ['error_below_threshold'], ...thresholdWords(run) },
    {
      rule: 'not_told_yet',
      ends: ['not_changed'],
      passed: 'This error had not been told yet.',
      ended: notToldAgain(run),
    },
  ];
}

/** Why as many outcomes in a row as there were are enough. */
function confirmedWords({ result, before, after, policy }: DecidedRun, field: string, needed: number): string {
  if (needed === 1) return 'One outcome is enough.';
  if (policy.notifyOn !== 'changed') {
    // Outcomes of other code, or from before a pause, prove nothing of the present.
    const condition = before.codeRevision === after.codeRevision ? before.condition : 'unknown';
    if (condition === String(result.outcome)) {
      return `The condition was \`${condition}\` already: nothing is to be confirmed.`;
    }
    if (condition === 'unknown' && (before.told === 'true') === result.outcome) {
      return 'One outcome is enough here: nothing else has been told.';
    }
  }
  return `${field} asks for ${needed} in a row, and there were as many.`;
}

function confirmationRule(run: DecidedRun): Rule {
  const { result, after, policy } = run;
  // What differs is confirmed by `confirmations`, whatever the outcome beside it.
  const isChanged = policy.notifyOn === 'changed';
  const field = isChanged || result.outcome === true ? 'confirmations' : 'recoveryConfirmations';
  const needed = policy[field];
  const row = (isChanged ? after.pendingValue?.count : after.pending) ?? needed;
  return {
    rule: 'confirmations',
    ends: ['awaiting_confirmation'],
    passed: confirmedWords(run, field, needed),
    ended: `${field} asks for ${needed} in a row; this was number ${row}.`,
  };
}

function stillTrue({ before, after, result, policy }: DecidedRun): string {
  // The run before may be folded, and its state with it.
  if (after.told !== 'true')
    return 'It was true before, and no enabled action listens to that (`on`): nobody could be told.';
  // Nothing else keeps a message back that is due here.
  if (policy.notifyOn === 'every_true' || isReminderDue(before, result.finishedAt, policy)) {
    return 'It was true before and has been told, and somebody has acknowledged it: nothing more is sent until it ends or the time of that is over.';
  }
  if (policy.reminderSeconds === 0) return 'It was true before and has been told: `became_true` tells it once.';
  const every = `reminders come every ${policy.reminderSeconds} s.`;
  if (before.triggeredAt === undefined) return `It was true before and has been told; ${every}`;
  const seconds = sinceSeconds(before.triggeredAt, result.finishedAt);
  return `It was true before and has been told ${seconds} s ago; ${every}`;
}

const wantedWords: Readonly<Partial<Record<WantedMessage, string>>> = {
  became_true: 'The condition is true, and that had not been told.',
  every_true: 'The condition is true, and the policy tells every run that finds it so.',
  reminder: 'The condition is still true, and a reminder was due.',
  recovered: 'The condition is not true any more, and that it was true has been told.',
  end_of_error: 'That the task could not be checked has been told, and it is over.',
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
  const { policy, result } = run;
  const wanted = wantedMessage(run);
  if (wanted === 'end_of_error' || wanted === 'unknown') {
    const passed = wantedWords[wanted] ?? 'This run has something to tell.';
    return [{ rule: wanted === 'unknown' ? 'condition' : 'health', ends: [], passed, ended: passed }];
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
      passed: (wanted === null ? undefined : wantedWords[wanted]) ?? 'This run has something to tell.',
      ended: result.outcome === true ? stillTrue(run) : 'The condition is not true.',
    },
  ];
}

function unheardWords({ wouldTell }: Decision): string {
  if (wouldTell === undefined) return 'No enabled action listens to this kind of message (`on`).';
  const { kind, reason } = wouldTell;
  return `It would have told "${kind}" (${reason}), but no enabled action listens to that (\`on\`).`;
}

/** New messages of the condition alone are held back by it. */
const cooledDown: readonly (WantedMessage | null)[] = ['became_true', 'every_true', 'changed'];

function cooldownWords(wanted: WantedMessage | null, cooldownSeconds: number): string {
  if (cooldownSeconds === 0) return 'There is no cooldown.';
  return cooledDown.includes(wanted)
    ? `The cooldown of ${cooldownSeconds} s is over.`
    : `The cooldown of ${cooldownSeconds} s is not asked: it holds back new triggers alone.`;
}

function gateRules(run: DecidedRun): readonly Rule[] {
  const { before, result, policy, decision } = run;
  const { cooldownSeconds, maxPerHour, quietHours, dependsOn } = policy;
  const wanted = wantedMessage(run);
  const seconds = sinceSeconds(before.triggeredAt, result.finishedAt);
  const actions: Rule = {
    rule: 'actions',
    ends: ['no_actions'],
    passed: 'An enabled action listens to this kind of message.',
    ended: unheardWords(decision),
  };
  // Of these nothing else is asked where nobody listens.
  const isFirst = wanted === 'forced' || wanted === 'recovered' || wanted === 'end_of_error' || wanted === 'unknown';
  if (decision.reason === 'no_actions' && isFirst) return [actions];
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
      passed: cooldownWords(wanted, cooldownSeconds),
      ended: `The last trigger was ${seconds} s ago, and the cooldown is ${cooldownSeconds} s.`,
    },
    {
      rule: 'hourly_cap',
      ends: ['rate_capped'],
      passed: maxPerHour === 0 ? 'There is no hourly limit.' : `Fewer than ${maxPerHour} messages in the last hour.`,
      ended: `There were ${maxPerHour} messages in the last hour, which is the limit.`,
    },
    actions,
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
  if (wantedMessage(run) === 'forced') {
    const { notify } = run.decision;
    const passed = notify
      ? 'It was forced and its outcome is true: that is sent whatever the policy says.'
      : 'It was forced and its outcome is true: the policy is not asked.';
    const force: Rule = { rule: 'force', ends: [], passed, ended: passed };
    return notify ? [...first, force] : [...first, force, ...gateRules(run)];
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
