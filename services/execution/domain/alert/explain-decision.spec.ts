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
function stillTrue(settings: object, finishedAt: string, alert = told): string {
  const result = { status: 'succeeded', outcome: true, values: {}, error: null, dryRun: false, force: false } as const;
  const steps = explainDecision({
    result: { ...result, finishedAt },
    decision: { notify: false, reason: 'still_true', transition: null },
    late: false,
    before: alert,
    after: alert,
    policy: policy.parse(settings),
  });
  return steps.at(-1)?.message ?? '';
}

describe('the explanation of a condition that is still true', () => {
  it('says that somebody has acknowledged it where a reminder was due', () => {
    expect(stillTrue({ reminderSeconds: 3_600 }, '2026-11-21T11:00:00.000Z')).toContain('acknowledged');
    expect(stillTrue({ notifyOn: 'every_true' }, '2026-11-21T10:00:10.000Z')).toContain('acknowledged');
  });

  it('does not say when it was told where that is not recorded', () => {
    const { triggeredAt: _triggeredAt, ...alert } = told;
    expect(stillTrue({ reminderSeconds: 3_600 }, '2026-11-21T11:00:00.000Z', alert)).toContain(
      'has been told; reminders',
    );
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

describe('the explanation of what is confirmed', () => {
  const confirmed = (story: Story): string | undefined => said(story).get('confirmations');

  it('says that nothing is where the condition was that already', () => {
    const story = new Story({ confirmations: 2, recoveryConfirmations: 2, reminderSeconds: 1 });
    story.run(true);
    story.run(true);
    expect(confirmed(story)).toBe('confirmations asks for 2 in a row, and there were as many.');
    story.run(true);
    expect(confirmed(story)).toBe('The condition was `true` already: nothing is to be confirmed.');
  });

  it('says that one outcome is enough where nothing else has been told', () => {
    const story = new Story({ confirmations: 2, recoveryConfirmations: 2 });
    story.run(false);
    expect(confirmed(story)).toBe('One outcome is enough here: nothing else has been told.');
  });
});

/** Why a run that failed was or was not an error yet. */
function thresholdOf(reason: string, decided: 'error_below_threshold' | 'error_threshold', after: Partial<AlertState>) {
  const error = { reason, message: 'no' };
  const result = { status: 'failed', outcome: null, values: {}, error, dryRun: false, force: false } as const;
  const steps = explainDecision({
    result: { ...result, finishedAt: '2026-11-21T11:00:00.000Z' },
    decision: { notify: decided === 'error_threshold', reason: decided, transition: null },
    late: false,
    before: initialAlert,
    after: { ...initialAlert, ...after },
    policy: policy.parse({ errorThreshold: 5 }),
  });
  return steps.find(({ rule }) => rule === 'error_threshold')?.message;
}

describe('the explanation of an error', () => {
  it('counts nothing while the network on this side is down', () => {
    const words = thresholdOf('own_network', 'error_below_threshold', { ownNetworkSince: '2026-11-21T10:59:00.000Z' });
    expect(words).toContain('says nothing of the page');
    expect(words).not.toContain('0 failed');
  });

  it('says that runs were ended from outside where that makes health an error', () => {
    const ended = thresholdOf('timed_out', 'error_threshold', { consecutiveErrors: 3, timesEnded: 3 });
    expect(ended).toBe('At least 3 runs in a row had to be ended from outside: health becomes `error` at once.');
    const many = thresholdOf('timed_out', 'error_threshold', { consecutiveErrors: 5, timesEnded: 3 });
    expect(many).toBe('5 failed runs in a row, and health becomes `error` at 5.');
  });
});
