/** The states of runs and decisions in words for people. */
import type { Decision, DecisionReason } from '#contracts/policy';
import type { ExecutionDocument } from '#contracts/run';
import { badge } from './layout.js';
import type { Html } from './html.js';

const decisionWords: Readonly<Record<DecisionReason, string>> = {
  became_true: 'The condition became true.',
  every_true: 'The condition is true, and the policy tells every run that finds it so.',
  changed: 'The value changed.',
  reminder: 'The condition is still true, and a reminder was due.',
  recovered: 'What had been told is over.',
  error_threshold: 'The check fails, as often in a row as the policy asks for.',
  forced: 'The run was asked to notify.',
  still_true: 'It was true before.',
  not_true: 'The condition is not true.',
  awaiting_confirmation: 'The policy asks for more such outcomes in a row.',
  error_below_threshold: 'The check failed, but not yet as often in a row as the policy asks for.',
  cooldown: 'The last message is not long enough ago.',
  flapping: 'The outcome changes too often.',
  quiet_hours: 'These are quiet hours.',
  muted: 'The policy is muted.',
  paused: 'The task is paused.',
  dependency_down: 'A task that this one depends on is true, or cannot be checked.',
  rate_capped: 'The limit of messages in an hour is reached.',
  not_changed: 'Nothing has changed since the last time.',
  dry_run: 'It was a trial that sends nothing.',
  no_actions: 'No enabled action listens to this kind of message.',
};

export function decisionText(decision: Decision | null): string {
  if (decision === null) return '–';
  return `${decision.notify ? 'Notified' : 'Did not notify'}: ${decisionWords[decision.reason]}`;
}

type Ended = Pick<ExecutionDocument, 'status' | 'outcome'>;

/** What a run found, in a word. */
export function outcomeBadge({ status, outcome }: Ended): Html {
  if (status === 'succeeded') return outcome === true ? badge('true', 'good') : badge('false', 'plain');
  return badge(status.replace('_', ' '), status === 'failed' || status === 'timed_out' ? 'bad' : 'plain');
}

export function healthBadge(health: string): Html {
  return badge(health, health === 'ok' ? 'good' : 'bad');
}

export function conditionBadge(condition: string): Html {
  return badge(condition, condition === 'true' ? 'good' : condition === 'flapping' ? 'bad' : 'plain');
}
