/** For specs of decisions: runs in a row under a policy, each at a time of its own. */
import { wholePolicy, type Policy } from '#contracts/policy';
import type { AlertState } from '#contracts/run';
import type { JsonObject } from '#runtime/json';
import { decideAlert, initialAlert, type AlertDecision } from './alert.js';
import type { DecidedRun } from './wanted-message.js';
import type { AlertContext, Finding } from './step.js';

/** A Saturday. */
const start = Date.parse('2026-11-21T10:00:00.000Z');
export const atSecond = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();

export const defaultPolicy = wholePolicy({ notifyOn: 'became_true', errorThreshold: 3 });

/** A task whose action subscribes to everything. */
export function aContext(policy: Partial<Policy> = {}, more: Partial<AlertContext> = {}): AlertContext {
  return {
    policy: { ...defaultPolicy, ...policy },
    paused: false,
    codeRevision: 0,
    actions: [{ enabled: true, on: ['triggered', 'recovered', 'error'] }],
    isDependencyDown: false,
    ...more,
  };
}

export function findingAt(seconds: number, outcome: boolean | null, more: Partial<Finding> = {}): Finding {
  const at = atSecond(seconds);
  return {
    runId: `exe_${seconds}`,
    trigger: 'schedule',
    force: false,
    dryRun: false,
    scheduledFor: at,
    finishedAt: at,
    outcome,
    values: {},
    state: null,
    endedFromOutside: false,
    ...more,
  };
}

/** The runs of one task, one after the other, a minute apart where nothing else is said. */
export class Story {
  alert: AlertState = initialAlert;
  readonly decided: AlertDecision[] = [];
  #seconds = 0;
  #context: AlertContext;
  #last: DecidedRun | null = null;

  constructor(policy: Partial<Policy> = {}, more: Partial<AlertContext> = {}) {
    this.#context = aContext(policy, more);
  }

  /** From now on the task is different. */
  with(policy: Partial<Policy>, more: Partial<AlertContext> = {}): this {
    const { policy: before, ...others } = this.#context;
    this.#context = { ...others, ...more, policy: { ...before, ...policy } };
    return this;
  }

  /** Lets time go by. */
  later(seconds: number): this {
    this.#seconds += seconds;
    return this;
  }

  run(outcome: boolean | null, more: Partial<Finding> = {}): AlertDecision {
    this.#seconds += 60;
    const finding = findingAt(this.#seconds, outcome, more);
    const decision = decideAlert(this.alert, finding, this.#context);
    const error = finding.isBlocked === true ? { reason: 'address_denied', message: 'No.' } : null;
    this.#last = {
      ...decision,
      result: { ...finding, status: outcome === null ? 'failed' : 'succeeded', error },
      before: this.alert,
      after: decision.alert,
      policy: this.#context.policy,
    };
    this.alert = decision.alert;
    this.decided.push(decision);
    return decision;
  }

  /** The last run, as it is explained. */
  decidedRun(): DecidedRun {
    if (this.#last === null) throw new Error('No run yet.');
    return this.#last;
  }

  /** The reasons for `t` (true), `f` (false) and `e` (error) in a row. */
  reasons(outcomes: string): readonly string[] {
    return outcomes.split('').map((each) => this.run(each === 'e' ? null : each === 't').decision.reason);
  }

  /** The reasons for these reported values in a row, all with a true outcome. */
  reasonsOfValues(...values: readonly JsonObject[]): readonly string[] {
    return values.map((reported) => this.run(true, { values: reported }).decision.reason);
  }

  /** All messages so far, as `kind:reason`. */
  messages(): readonly string[] {
    return this.decided.flatMap(({ intents }) => intents.map(({ kind, reason }) => `${kind}:${reason}`));
  }
}
