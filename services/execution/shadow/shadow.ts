/** A candidate beside a task's own settings: what of it a check evaluates, and what it would have decided. Nothing is sent. */
import { wholePolicy, type StoredPolicy } from '#contracts/policy';
import { blocks, type AlertState, type RunError, type ShadowResult } from '#contracts/run';
import type { Shadow, TaskDocument } from '#contracts/task';
import { decideAlert } from '../domain/alert/alert.js';
import type { Finding } from '../domain/alert/step.js';
import type { Evaluated } from '../page-evaluation.js';

const longestMessage = 500;

/** The policy that counts for the candidate. */
export function shadowPolicy(shadow: Shadow, task: TaskDocument): StoredPolicy {
  return shadow.policy ?? task.spec.policy;
}

/**
 * The alert state that the candidate goes on from: its own, or at its first run that of the task, with the condition forgotten
 * where the code is another one, as an edit would.
 */
export function shadowAlert(shadow: Shadow, last: ShadowResult | null, live: AlertState): AlertState {
  if (last?.startedAt === shadow.startedAt) return last.alert;
  return shadow.evaluationFunction === null ? live : { ...live, codeRevision: -1 };
}

/** What a check has to evaluate besides; null: the candidate has no code of its own. */
export interface ShadowCode {
  readonly evaluationFunction: string;
  readonly codeForm: NonNullable<Shadow['codeForm']>;
  readonly previous: AlertState['previous'];
  readonly state: AlertState['state'];
}

export function shadowCode(task: TaskDocument, last: ShadowResult | null, live: AlertState): ShadowCode | null {
  const { shadow } = task;
  if (shadow === undefined || shadow.evaluationFunction === null || shadow.codeForm === null) return null;
  const { previous, state } = shadowAlert(shadow, last, live);
  return { evaluationFunction: shadow.evaluationFunction, codeForm: shadow.codeForm, previous, state };
}

function shortened(error: RunError | null): RunError | null {
  return error === null ? null : { ...error, message: error.message.slice(0, longestMessage) };
}

/** `found`: of the candidate's own code; null where it has none, or no page was there to run it on. */
export function shadowResult(
  task: TaskDocument & { readonly shadow: Shadow },
  before: AlertState,
  finding: Finding,
  found: Pick<Evaluated, 'outcome' | 'values' | 'state' | 'error' | 'endedFromOutside'> | null,
  isDependencyDown: boolean,
): ShadowResult {
  const { shadow, status, codeRevision, spec } = task;
  const own: Finding =
    found === null
      ? finding
      : {
          ...finding,
          outcome: found.outcome,
          values: found.values,
          state: found.state,
          endedFromOutside: found.endedFromOutside,
          isBlocked: blocks(found.error),
        };
  const { decision, alert } = decideAlert(before, own, {
    policy: wholePolicy(shadowPolicy(shadow, task)),
    paused: status === 'paused',
    codeRevision,
    actions: spec.actions,
    isDependencyDown,
  });
  return {
    startedAt: shadow.startedAt,
    outcome: own.outcome,
    error: shortened(found?.error ?? null),
    decision,
    alert,
  };
}
