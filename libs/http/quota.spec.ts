import { describe, expect, it } from '@jest/globals';
import { createProcessQuota, quotaHeaders } from './quota.js';

const budget = { limit: 3, windowMs: 1_000 };

describe('a budget', () => {
  it('lasts for a window that begins with the first request, refusals cost nothing', async () => {
    const time = { ms: 500 };
    const quota = createProcessQuota({ now: () => time.ms });
    const taken = [];
    for (let i = 0; i < 5; i += 1) taken.push(await quota.take('a', budget));
    expect(taken.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
    ]);
    expect(taken.at(-1)?.resetAtMs).toBe(1_500);
    time.ms = 1_499;
    expect((await quota.take('a', budget)).allowed).toBe(false);
    time.ms = 1_500;
    expect(await quota.take('a', budget)).toEqual({ allowed: true, limit: 3, remaining: 2, resetAtMs: 2_500 });
  });

  it('is each subject’s own', async () => {
    const quota = createProcessQuota({ now: () => 0 });
    for (let i = 0; i < 3; i += 1) await quota.take('a', budget);
    expect((await quota.take('b', budget)).remaining).toBe(2);
  });

  it('keeps what was used when the plan changes', async () => {
    const quota = createProcessQuota({ now: () => 0 });
    for (let i = 0; i < 3; i += 1) await quota.take('a', budget);
    expect(await quota.take('a', { ...budget, limit: 10 })).toMatchObject({ allowed: true, remaining: 6 });
    expect(await quota.take('a', { ...budget, limit: 2 })).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('is told in both forms of headers', () => {
    const state = { allowed: true, limit: 100, remaining: 99, resetAtMs: 3_600_400 };
    expect(quotaHeaders(state, 3_600_000, 400)).toEqual({
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '99',
      'x-ratelimit-reset': '3601',
      'ratelimit-policy': '"organization";q=100;w=3600',
      ratelimit: '"organization";r=99;t=3600',
    });
  });
});
