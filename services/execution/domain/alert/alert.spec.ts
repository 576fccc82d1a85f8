import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backsOff, rememberedRun, type AlertState } from '#contracts/run';
import { decideAlert, initialAlert, type AlertDecision } from './alert.js';
import { aContext, findingAt } from './alert.kit.js';
import type { AlertContext, Finding } from './step.js';

const everybody = aContext();
const triggersOnly: AlertContext = { ...everybody, actions: [{ enabled: true, on: ['triggered'] }] };

let slot = 0;
function finding(outcome: boolean | null, more: Partial<Finding> = {}): Finding {
  slot += 1;
  return findingAt(slot * 10, outcome, more);
}

/** Outcomes in a row (null: an error), from the beginning; what each decision was. */
function play(
  outcomes: readonly (boolean | null)[],
  task: AlertContext,
  from: AlertState = initialAlert,
): AlertDecision[] {
  let alert = from;
  return outcomes.map((outcome) => {
    const judgement = decideAlert(alert, finding(outcome), task);
    alert = judgement.alert;
    return judgement;
  });
}
const reasons = (judgements: readonly AlertDecision[]): string[] => judgements.map(({ decision }) => decision.reason);
const after = (judgements: readonly AlertDecision[]): AlertState => judgements.at(-1)?.alert ?? initialAlert;

describe('the policy became_true', () => {
  it('notifies on a first run that is true', () => {
    const [first] = play([true], everybody);
    expect(first?.decision).toEqual({
      notify: true,
      reason: 'became_true',
      transition: { kind: 'condition', from: 'unknown', to: 'true' },
    });
  });

  it('does not notify again while the condition stays true', () => {
    expect(reasons(play([true, true, true], everybody))).toEqual(['became_true', 'still_true', 'still_true']);
  });

  it('notifies each time the condition becomes true anew, and when it ends', () => {
    const played = play([false, true, false, false, true], everybody);
    expect(reasons(played)).toEqual(['not_true', 'became_true', 'recovered', 'not_true', 'became_true']);
    expect(played.map(({ intents }) => intents[0]?.dedupKey)).toEqual([
      undefined,
      'condition:1',
      'condition:1',
      undefined,
      'condition:2',
    ]);
  });

  it('decides no_actions where no action subscribes to the end', () => {
    expect(reasons(play([true, false, true], triggersOnly))).toEqual(['became_true', 'no_actions', 'became_true']);
  });

  it('ignores disabled actions', () => {
    const off: AlertContext = { ...everybody, actions: [{ enabled: false, on: ['triggered'] }] };
    expect(reasons(play([true], off))).toEqual(['no_actions']);
  });
});

describe('errors', () => {
  it('never change the condition', () => {
    const played = play([true, null, null, null, null, true], everybody);
    expect(played.map(({ alert }) => alert.condition)).toEqual(['true', 'true', 'true', 'true', 'true', 'true']);
    expect(reasons(played)).toEqual([
      'became_true',
      'error_below_threshold',
      'error_below_threshold',
      'error_threshold',
      'not_changed',
      'recovered',
    ]);
  });

  it('notify once at the threshold, and once when they end', () => {
    const played = play([null, null, null, null, false, null], everybody);
    expect(played.flatMap(({ intents }) => intents)).toEqual([
      {
        kind: 'error',
        dedupKey: 'health:1',
        reason: 'error_threshold',
        transition: { kind: 'health', from: 'ok', to: 'error' },
      },
      {
        kind: 'recovered',
        dedupKey: 'health:1',
        reason: 'recovered',
        transition: { kind: 'health', from: 'error', to: 'ok' },
      },
    ]);
  });

  it('notify of their end only where they were notified', () => {
    const played = play([null, null, null, false], triggersOnly);
    expect(reasons(played)).toEqual(['error_below_threshold', 'error_below_threshold', 'no_actions', 'not_true']);
    expect(after(played).health).toBe('ok');
  });

  it('notify of both where the first good run is also the first true one', () => {
    const [last] = play([null, null, null, true], everybody).slice(-1);
    expect(last?.intents.map(({ kind }) => kind)).toEqual(['triggered', 'recovered']);
    expect(last?.decision.reason).toBe('became_true');
  });
});

describe('a change of the task', () => {
  it('resets the condition but not what was notified', () => {
    const told = after(play([true], everybody));
    const edited: AlertContext = { ...everybody, codeRevision: 4 };
    const [still] = play([true], edited, told);
    expect(still?.decision).toMatchObject({ notify: false, reason: 'still_true' });
    const [ended] = play([false], edited, told);
    expect(ended?.decision).toMatchObject({ notify: true, reason: 'recovered' });
  });

  it('notifies of nothing while paused, and afterwards of what has changed', () => {
    const paused = play([true], { ...everybody, paused: true });
    expect(reasons(paused)).toEqual(['paused']);
    expect(reasons(play([true], { ...everybody, codeRevision: 2 }, after(paused)))).toEqual(['became_true']);
  });
});

describe('manual runs', () => {
  it('obey the policy', () => {
    const told = after(play([true], everybody));
    const again = decideAlert(told, finding(true, { trigger: 'manual' }), everybody);
    expect(again.decision.reason).toBe('still_true');
  });

  it('notify with force if the outcome is true, and only then', () => {
    const told = after(play([true], everybody));
    const run = finding(true, { trigger: 'manual', force: true });
    const judged = decideAlert(told, run, everybody);
    expect(judged.decision).toMatchObject({ notify: true, reason: 'forced' });
    expect(judged.intents[0]?.dedupKey).toBe(`forced:${run.runId}`);
    const no = decideAlert(told, finding(false, { trigger: 'manual', force: true }), triggersOnly);
    expect(no.decision.notify).toBe(false);
  });

  it('change nothing and send nothing on a dry run', () => {
    const run = finding(true, { trigger: 'manual', dryRun: true });
    const judged = decideAlert(initialAlert, run, everybody);
    expect(judged.decision).toEqual({ notify: false, reason: 'dry_run', transition: null });
    expect(judged.alert).toEqual({ ...initialAlert, recentRuns: [rememberedRun(run.runId)] });
  });
});

describe('the order of results', () => {
  it('makes a result late, without a transition, where a later slot was decided before', () => {
    const early = finding(true);
    const told = after(play([false], everybody));
    const judged = decideAlert(told, early, everybody);
    expect(judged).toMatchObject({
      late: true,
      intents: [],
      alert: { ...told, recentRuns: [...told.recentRuns, rememberedRun(early.runId)] },
    });
    expect(judged.decision.notify).toBe(false);
  });
});

describe('runs that the own network kept from their pages', () => {
  it('are no error of the page: they neither count nor end a row, and do not notify', () => {
    const ours = (): Finding => finding(null, { isOwnNetwork: true });
    const task: AlertContext = { ...everybody, policy: { ...everybody.policy, errorThreshold: 2 } };
    let alert = after(play([true, null], task));
    for (let run = 0; run < 5; run += 1) {
      const judged = decideAlert(alert, ours(), task);
      expect(judged).toMatchObject({
        decision: { notify: false, reason: 'error_below_threshold' },
        intents: [],
        alert: { health: 'ok', consecutiveErrors: 1, condition: 'true', told: 'true' },
      });
      ({ alert } = judged);
    }
    expect(decideAlert(alert, finding(null), task).decision.reason).toBe('error_threshold');
  });

  it('count as errors of the task once that has lasted a quarter of an hour, until a run reaches its page', () => {
    const start = Date.parse(finding(null).finishedAt) + 3_600_000;
    const ours = (afterMinutes: number): Finding => {
      const at = new Date(start + afterMinutes * 60_000).toISOString();
      return finding(null, { isOwnNetwork: true, finishedAt: at, scheduledFor: at });
    };
    const reached = new Date(start + 16 * 60_000).toISOString();
    const task: AlertContext = { ...everybody, policy: { ...everybody.policy, errorThreshold: 2 } };
    let alert = after(play([true], task));
    const reasonsAfter = [ours(0), ours(5), ours(14), ours(15)].map((found) => {
      const decided = decideAlert(alert, found, task);
      ({ alert } = decided);
      return decided.decision.reason;
    });
    expect(reasonsAfter).toEqual(Array.from({ length: 4 }, () => 'error_below_threshold'));
    const decided = decideAlert(alert, ours(15.5), task);
    expect(decided).toMatchObject({
      decision: { notify: true, reason: 'error_threshold' },
      alert: { health: 'error' },
    });
    const good = decideAlert(decided.alert, finding(true, { finishedAt: reached, scheduledFor: reached }), task);
    expect(good.alert.ownNetworkSince).toBeUndefined();
    expect(good.decision.reason).toBe('recovered');
  });
});

describe('runs that had to be ended from outside', () => {
  const ended = (): Finding => finding(null, { endedFromOutside: true });
  const patient: AlertContext = { ...everybody, policy: { ...everybody.policy, errorThreshold: 100 } };
  /** What the judgements of these findings leave behind. */
  const left = (findings: readonly Finding[], task = patient, from = initialAlert): AlertState =>
    findings.reduce((alert, each) => decideAlert(alert, each, task).alert, from);
  const backedOff = (): AlertState => left([ended(), ended(), ended()]);

  it('make a task back off from the third in a row on, with a health error whatever the threshold is', () => {
    const twice = left([ended(), ended()]);
    expect([backsOff(twice), twice.health]).toEqual([false, 'ok']);
    const third = decideAlert(twice, ended(), patient);
    expect(third.decision).toMatchObject({ reason: 'error_threshold', transition: { kind: 'health', to: 'error' } });
    expect(backsOff(third.alert)).toBe(true);
  });

  it('are no row where another failure or a good run comes between', () => {
    expect(backsOff(left([ended(), ended(), finding(null), ended()]))).toBe(false);
    expect(backsOff(left([ended(), ended(), finding(false), ended()]))).toBe(false);
  });

  it('are over at the first good run, not at another failure', () => {
    const before = backedOff();
    expect(backsOff(left([finding(null)], patient, before))).toBe(true);
    const good = decideAlert(before, finding(false), patient);
    expect([backsOff(good.alert), good.alert.health]).toEqual([false, 'ok']);
    expect(good.intents).toMatchObject([{ kind: 'recovered' }]);
  });

  it('are forgotten when the code changes', () => {
    const changed = { ...patient, codeRevision: 7 };
    const before = backedOff();
    expect(backsOff(left([ended()], changed, before))).toBe(false);
    expect(backsOff(left([ended(), ended(), ended()], changed, before))).toBe(true);
  });
});

describe('a decision under any sequence of runs', () => {
  const anyOutcomes = fc.array(fc.constantFrom(true, false, null), { maxLength: 40 });

  it('notifies exactly once per rise, counting only runs without error', () => {
    fc.assert(
      fc.property(anyOutcomes, (outcomes) => {
        const triggered = play(outcomes, everybody).flatMap(({ intents }) =>
          intents.filter(({ kind }) => kind === 'triggered'),
        );
        const good = outcomes.filter((outcome) => outcome !== null);
        const rises = good.filter((outcome, index) => outcome && good[index - 1] !== true).length;
        expect(triggered).toHaveLength(rises);
      }),
    );
  });

  it('never yields two intents under one dedup key and kind', () => {
    fc.assert(
      fc.property(anyOutcomes, (outcomes) => {
        const keys = play(outcomes, everybody).flatMap(({ intents }) =>
          intents.map(({ kind, dedupKey }) => `${kind}|${dedupKey}`),
        );
        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });

  it('is the same for the same state, result and task', () => {
    fc.assert(
      fc.property(anyOutcomes, fc.constantFrom(true, false, null), (outcomes, outcome) => {
        const alert = after(play(outcomes, everybody));
        const run = finding(outcome);
        expect(decideAlert(alert, run, everybody)).toEqual(decideAlert(structuredClone(alert), run, everybody));
      }),
    );
  });
});
