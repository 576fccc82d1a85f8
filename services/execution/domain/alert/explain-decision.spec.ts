import { describe, expect, it } from '@jest/globals';
import { policy } from '#contracts/policy';
import type { AlertState } from '#contracts/run';
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
