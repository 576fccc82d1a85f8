/** What holds for any policy and any sequence of runs. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { NotificationKind } from '#contracts/action';
import { policy as policySchema, type DecisionReason, type Policy } from '#contracts/policy';
import type { WeekDay } from '#contracts/week-time';
import { runRecorded, type AlertState } from '#contracts/run';
import { aContext, findingAt } from './alert.kit.js';
import { decideAlert, initialAlert, type AlertDecision } from './alert.js';
import { explainDecision } from './explain-decision.js';
import { isQuiet } from './quiet-hours.js';
import type { AlertContext, Finding } from './step.js';

interface Step {
  readonly outcome: boolean | null;
  readonly value: number;
  readonly seconds: number;
  readonly force: boolean;
  readonly isDependencyDown: boolean;
  readonly isBlocked: boolean;
  readonly muted: boolean;
  readonly paused: boolean;
  readonly edited: boolean;
  /** What the action of then listens to; absent: to all. */
  readonly on?: NotificationKind[];
}

const rarely = fc.nat({ max: 7 }).map((value) => value === 0);
const step = (forced = rarely): fc.Arbitrary<Step> =>
  fc.record({
    outcome: fc.oneof({ weight: 5, arbitrary: fc.boolean() }, { weight: 1, arbitrary: fc.constant(null) }),
    value: fc.nat({ max: 2 }),
    seconds: fc.constantFrom(10, 60, 300, 900, 3_599, 3_600, 20_000),
    force: forced,
    isDependencyDown: rarely,
    isBlocked: fc.boolean(),
    muted: rarely,
    paused: rarely,
    edited: rarely,
  });
const never: fc.Arbitrary<boolean> = fc.constant(false);

const quietWindow = fc.record({
  days: fc.constantFrom<WeekDay[]>(['sat'], ['sat', 'sun'], ['mon', 'tue']),
  from: fc.constantFrom('00:00', '10:30', '22:00'),
  to: fc.constantFrom('06:00', '11:00', '24:00'),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu'),
});

const policies: fc.Arbitrary<Policy> = fc
  .record({
    notifyOn: fc.constantFrom('became_true' as const, 'every_true' as const, 'changed' as const),
    confirmations: fc.integer({ min: 1, max: 3 }),
    recoveryConfirmations: fc.integer({ min: 1, max: 3 }),
    cooldownSeconds: fc.constantFrom(0, 0, 600),
    reminderSeconds: fc.constantFrom(0, 0, 900),
    errorThreshold: fc.integer({ min: 1, max: 3 }),
    flapWindow: fc.constantFrom(0, 0, 4, 7),
    quietHours: fc.array(quietWindow, { maxLength: 2 }),
    maxPerHour: fc.constantFrom(0, 1, 2, 3),
    dependsOn: fc.constant<string[]>([]),
    muted: fc.constant(false),
  })
  .filter((policy) => policySchema.safeParse(policy).success);

interface Run extends AlertDecision {
  readonly step: Step;
  readonly finding: Finding;
  readonly task: AlertContext;
  readonly before: AlertState;
}

function play(policy: Policy, steps: readonly Step[], more: Partial<AlertContext> = {}): readonly Run[] {
  let seconds = 0;
  let codeRevision = 0;
  let before = initialAlert;
  return steps.map((each, index) => {
    seconds += each.seconds;
    const isUnpaused = index > 0 && steps[index - 1]?.paused === true && !each.paused;
    codeRevision += each.edited || isUnpaused ? 1 : 0;
    const { outcome, value, force, isDependencyDown, muted, paused, on } = each;
    const heard = on === undefined ? {} : { actions: [{ enabled: true, on }] };
    const task = aContext({ ...policy, muted }, { codeRevision, isDependencyDown, paused, ...heard, ...more });
    const values = value === 0 ? {} : { value };
    const isBlocked = outcome === null && each.isBlocked;
    const trigger = force ? 'manual' : 'schedule';
    const finding = findingAt(seconds, outcome, { values, force, trigger, isBlocked });
    const decided = decideAlert(before, finding, task);
    const run = { ...decided, step: each, finding, task, before };
    before = decided.alert;
    return run;
  });
}

function always(
  rule: (runs: readonly Run[], policy: Policy) => void,
  forced = never,
  more: Partial<AlertContext> = {},
) {
  fc.assert(
    fc.property(policies, fc.array(step(forced), { maxLength: 40 }), (policy, steps) => {
      rule(play(policy, steps, more), policy);
    }),
    { numRuns: 400 },
  );
}

const sent = (runs: readonly Run[]) =>
  runs.flatMap(({ intents, finding, step: { outcome } }) =>
    intents.map((intent) => ({ ...intent, at: Date.parse(finding.finishedAt), finding, outcome })),
  );

describe('a decision under any policy and any sequence of runs', () => {
  it('is the same for the same state, finding and task', () => {
    always((runs) => {
      for (const { before, finding, task, decision, intents, alert, late, lost } of runs) {
        const again = decideAlert(structuredClone(before), structuredClone(finding), structuredClone(task));
        expect(again).toEqual({ decision, intents, alert, late, lost });
      }
    }, rarely);
  });

  it('is the same after its state went through the event that stores it', () => {
    always((runs) => {
      for (const { before, finding, task, decision, intents, alert, late, lost } of runs) {
        const stored: unknown = JSON.parse(JSON.stringify(before));
        const read = runRecorded.schema.shape.alert.parse(stored);
        expect(read).toEqual(before);
        expect(decideAlert(read, finding, task)).toEqual({ decision, intents, alert, late, lost });
      }
    }, rarely);
  });

  it('is explained by rules of which none stops it where it notifies, and the last one alone where it does not', () => {
    const isExplained = (runs: readonly Run[]): void => {
      for (const { before, finding, task, decision, alert: after, late } of runs) {
        const error = finding.isBlocked === true ? { reason: 'address_denied', message: 'No.' } : null;
        const result = { ...finding, status: 'succeeded', error } as const;
        const steps = explainDecision({ result, decision, late, before, after, policy: task.policy });
        const stops = steps.map(({ passed }) => !passed);
        expect({ decision, stops }).toEqual({
          decision,
          stops: stops.map((_, at) => !decision.notify && at === stops.length - 1),
        });
        expect(steps.every(({ message }) => message.length > 0)).toBe(true);
      }
    };
    always(isExplained, rarely);
    always(isExplained, rarely, { actions: [] });
    always(isExplained, never, { actions: [{ enabled: true, on: ['recovered'] }] });
  });

  it('notifies exactly where it has a message, with a reason that says so', () => {
    const notifying = new Set([
      'became_true',
      'every_true',
      'changed',
      'reminder',
      'recovered',
      'error_threshold',
      'forced',
    ]);
    always((runs) => {
      for (const { decision, intents } of runs) {
        expect(decision.notify).toBe(intents.length > 0);
        expect(notifying.has(decision.reason)).toBe(decision.notify);
        if (decision.notify) expect(intents.map(({ reason }) => reason)).toContain(decision.reason);
      }
    }, rarely);
  });

  it('never yields two messages of one kind under one dedup key', () => {
    always((runs) => {
      const keys = sent(runs).map(({ kind, dedupKey }) => `${kind}|${dedupKey}`);
      expect(new Set(keys).size).toBe(keys.length);
    }, rarely);
  });

  it('never triggers twice in an episode, reminders aside, where it notifies of became_true', () => {
    always((runs, { notifyOn }) => {
      if (notifyOn !== 'became_true') return;
      const edges = sent(runs)
        .filter(
          ({ reason, dedupKey }) =>
            reason === 'became_true' || (reason === 'recovered' && dedupKey.startsWith('condition:')),
        )
        .map(({ reason }) => reason);
      expect(edges.filter((reason, index) => reason === edges[index - 1])).toEqual([]);
    });
  });

  it('notifies of a recovery only after what it recovers from, and once', () => {
    always((runs) => {
      let isOpen = false;
      let isBroken = false;
      for (const { kind, reason, dedupKey } of sent(runs)) {
        const isHealth = dedupKey.startsWith('health:');
        if (kind === 'triggered' && reason !== 'changed') isOpen = true;
        if (kind === 'error') {
          expect(isBroken).toBe(false);
          isBroken = true;
        }
        if (kind !== 'recovered') continue;
        expect(isHealth ? isBroken : isOpen).toBe(true);
        if (isHealth) isBroken = false;
        else isOpen = false;
      }
    });
  });

  it('tells an error that lasts once: by the first run that somebody listens to and nothing holds back', () => {
    const listening = fc.subarray<NotificationKind>(['triggered', 'error', 'recovered']);
    const failing = fc.tuple(step(), listening, fc.boolean()).map(([each, on, fails]) => ({
      ...each,
      on,
      outcome: fails ? null : each.outcome,
    }));
    const holds: readonly DecisionReason[] = ['muted', 'paused', 'dependency_down', 'quiet_hours', 'rate_capped'];
    fc.assert(
      fc.property(policies, fc.array(failing, { maxLength: 40 }), (policy, steps) => {
        let isTold = false;
        for (const {
          intents,
          decision,
          alert,
          finding,
          lost,
          step: { on = [], paused },
        } of play(policy, steps)) {
          const ofHealth = intents.filter(({ dedupKey }) => dedupKey.startsWith('health:')).map(({ kind }) => kind);
          const isBad = finding.outcome === null || lost !== null;
          if (isBad) {
            expect(ofHealth).toEqual(ofHealth.includes('error') && !isTold ? ['error'] : []);
            isTold ||= ofHealth.includes('error');
            const mayBeUntold: readonly DecisionReason[] = [
              ...holds,
              'error_below_threshold',
              ...(on.includes('error') ? [] : (['no_actions', 'not_changed'] as const)),
            ];
            if (!isTold) expect(mayBeUntold).toContain(decision.reason);
          } else {
            expect(ofHealth).toEqual(ofHealth.includes('recovered') && isTold ? ['recovered'] : []);
            // An end that nobody listens to is over, too, unless the task is paused.
            if (ofHealth.length > 0 || (!paused && !on.includes('recovered'))) isTold = false;
          }
          expect(alert.healthTold).toBe(isTold);
        }
      }),
      { numRuns: 600 },
    );
  });

  it('is of health blocked exactly from a run that this instance refuses on, until a good one or the threshold of errors', () => {
    always((runs, { errorThreshold }) => {
      for (const { before, alert, finding, lost } of runs) {
        const isGood = finding.outcome !== null && lost === null;
        const isError = !isGood && alert.consecutiveErrors >= errorThreshold;
        const next = finding.isBlocked === true ? 'blocked' : isError ? 'error' : before.health;
        expect(alert.health).toBe(isGood ? 'ok' : next);
      }
    });
  });

  it('sends at most maxPerHour messages in any 60 minutes', () => {
    always((runs, { maxPerHour }) => {
      if (maxPerHour === 0) return;
      const times = sent(runs).map(({ at }) => at);
      for (const time of times) {
        const within = times.filter((other) => other <= time && time - other < 3_600_000);
        expect(within.length).toBeLessThanOrEqual(maxPerHour);
      }
    });
  });

  it('sends nothing in quiet hours, while muted, paused or while a dependency is down', () => {
    always((runs, { quietHours }) => {
      for (const {
        intents,
        finding,
        step: { muted, paused, isDependencyDown },
      } of runs) {
        if (isQuiet(quietHours, finding.finishedAt) || muted || paused || isDependencyDown) expect(intents).toEqual([]);
      }
    });
  });

  it('sends no trigger within the cooldown after another', () => {
    always((runs, { cooldownSeconds }) => {
      const triggers = sent(runs).filter(({ reason }) => ['became_true', 'every_true', 'changed'].includes(reason));
      for (const [index, { at }] of triggers.entries()) {
        const before = triggers[index - 1];
        if (before !== undefined) expect(at - before.at).toBeGreaterThanOrEqual(cooldownSeconds * 1_000);
      }
    });
  });

  it('finds a condition true only after so many true outcomes in a row, and false likewise', () => {
    always((runs, { confirmations, recoveryConfirmations }) => {
      let row: boolean[] = [];
      for (const {
        before,
        alert,
        step: { outcome },
      } of runs) {
        const isNew = alert.codeRevision !== before.codeRevision;
        if (isNew) row = [];
        if (outcome !== null) row = row.at(-1) === outcome || row.length === 0 ? [...row, outcome] : [outcome];
        // From `unknown` what was notified last needs no other proof.
        if (alert.condition === before.condition || isNew || before.condition === 'unknown') continue;
        expect(outcome).toBe(alert.condition === 'true');
        expect(row.length).toBeGreaterThanOrEqual(outcome === true ? confirmations : recoveryConfirmations);
      }
    });
  });

  it('reminds no sooner than after reminderSeconds without a message of the condition', () => {
    always((runs, { reminderSeconds }) => {
      const triggered = sent(runs).filter(({ kind }) => kind === 'triggered');
      for (const [index, { at, reason }] of triggered.entries()) {
        if (reason !== 'reminder') continue;
        const before = triggered[index - 1];
        if (before === undefined) throw new Error('a reminder of nothing');
        expect(at - before.at).toBeGreaterThanOrEqual(reminderSeconds * 1_000);
      }
    });
  });

  it('says what holds once nothing holds it back any more', () => {
    const hold = {
      isBlocked: false,
      muted: false,
      paused: false,
      isDependencyDown: false,
      force: false,
      edited: false,
      value: 0,
    };
    const calm = (outcome: boolean): readonly Step[] =>
      Array.from({ length: 60 }, () => ({ ...hold, outcome, seconds: 3_600 }));
    fc.assert(
      fc.property(policies, fc.array(step(), { maxLength: 30 }), fc.boolean(), (policy, steps, outcome) => {
        const runs = play({ ...policy, quietHours: [] }, [...steps, ...calm(outcome)]);
        const last = runs.at(-1)?.alert;
        expect(last).toMatchObject({ condition: outcome ? 'true' : 'false', health: 'ok', healthTold: false });
        expect(last?.flapping).toBeUndefined();
        if (policy.notifyOn !== 'changed') expect(last?.told === 'true').toBe(outcome);
      }),
      { numRuns: 200 },
    );
  });

  it('is no_actions or silent where no action subscribes, whatever happens', () => {
    always((runs) => expect(sent(runs)).toEqual([]), rarely, { actions: [] });
  });

  it('changes nothing but the known runs with a dry run', () => {
    always((runs) => {
      for (const { before, finding, task } of runs) {
        const { decision, intents, alert } = decideAlert(
          before,
          { ...finding, runId: 'exe_dry', trigger: 'manual', dryRun: true },
          task,
        );
        expect([decision.reason, intents]).toEqual(['dry_run', []]);
        expect({ ...alert, recentRuns: [] }).toEqual({ ...before, recentRuns: [] });
      }
    });
  });
});
