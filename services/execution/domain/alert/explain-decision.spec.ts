import { describe, expect, it } from '@jest/globals';
import { policy, type Decision } from '#contracts/policy';
import type { AlertState } from '#contracts/run';
import { Story } from './alert.kit.js';
import { initialAlert } from './alert.js';
import { explainDecision } from './explain-decision.js';

const told: AlertState = {
  ...initialAlert,
  condition: 'true',
  told: 'true',
  episode: 1,
  triggeredAt: '2026-11-21T10:00:00.000Z',
};

/** Why a run that found the condition true still told nothing. */
function stillTrue(settings: object, finishedAt: string): string {
  const result = { status: 'succeeded', outcome: true, values: {}, error: null, dryRun: false, force: false } as const;
  const steps = explainDecision({
    result: { ...result, finishedAt },
    decision: { notify: false, reason: 'still_true', transition: null },
    late: false,
    before: told,
    after: told,
    policy: policy.parse(settings),
  });
  return steps.at(-1)?.message ?? '';
}

describe('the explanation of a condition that is still true', () => {
  it('says that somebody has acknowledged it where a reminder was due', () => {
    expect(stillTrue({ reminderSeconds: 3_600 }, '2026-11-21T11:00:00.000Z')).toContain('acknowledged');
    expect(stillTrue({ notifyOn: 'every_true' }, '2026-11-21T10:00:10.000Z')).toContain('acknowledged');
  });

  it('says when the next reminder comes where none was due', () => {
    expect(stillTrue({ reminderSeconds: 3_600 }, '2026-11-21T10:59:59.000Z')).toContain('every 3600 s');
    expect(stillTrue({}, '2026-11-21T11:00:00.000Z')).toContain('tells it once');
  });
});

/** Why a run that failed again told nothing. */
function stillFailing(after: Partial<AlertState>, transition: Decision['transition'] = null): string {
  const result = { status: 'failed', outcome: null, values: {}, error: null, dryRun: false, force: false } as const;
  const alert: AlertState = { ...initialAlert, health: 'error', healthEpisode: 1, consecutiveErrors: 9, ...after };
  const steps = explainDecision({
    result: { ...result, finishedAt: '2026-11-21T11:00:00.000Z' },
    decision: { notify: false, reason: 'not_changed', transition },
    late: false,
    before: alert,
    after: alert,
    policy: policy.parse({}),
  });
  return steps.at(-1)?.message ?? '';
}

describe('the explanation of an error that lasts', () => {
  it('says that it was told only where it was', () => {
    expect(stillFailing({ healthTold: true })).toContain('told once');
    const unheard = 'No enabled action listens to errors (`on`): nobody could be told.';
    expect(stillFailing({ healthTold: false })).toContain(unheard);
    expect(stillFailing({ healthTold: false }, { kind: 'health', from: 'blocked', to: 'error' })).toContain(unheard);
  });
});

/** What is said of the last run of a story, rule by rule. */
function said(story: Story): ReadonlyMap<string, string> {
  const steps = explainDecision(story.decidedRun());
  return new Map(steps.map(({ rule, message }) => [rule, message]));
}

describe('the explanation of a value that differs and is to be confirmed', () => {
  it('counts by `confirmations`, whatever the outcome and its own row', () => {
    const story = new Story({ notifyOn: 'changed', confirmations: 3, recoveryConfirmations: 5 });
    story.run(true, { values: { value: 1 } });
    story.run(false, { values: { value: 2 } });
    expect(said(story).get('confirmations')).toBe('confirmations asks for 3 in a row; this was number 1.');
    story.run(false, { values: { value: 2 } });
    expect(said(story).get('confirmations')).toBe('confirmations asks for 3 in a row; this was number 2.');
    story.run(false, { values: { value: 3 } });
    expect(said(story).get('confirmations')).toBe('confirmations asks for 3 in a row; this was number 1.');
  });
});
