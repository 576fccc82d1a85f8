import { describe, expect, it } from '@jest/globals';
import { isRemembered, rememberedRun } from './run.js';

const [one, other] = ['exe_01m851q9mhqs0mjzmxh6kt4jdj', 'exe_01m851q9mhqs0mjzmxh6kt4jdk'];

describe('a run that was recorded lately', () => {
  it('is known again by the end of its id', () => {
    const recentRuns = [rememberedRun(one)];
    expect(recentRuns).toEqual(['xh6kt4jdj'.padStart(10, 'm')]);
    expect([isRemembered({ recentRuns }, one), isRemembered({ recentRuns }, other)]).toEqual([true, false]);
  });

  it('is known again where an earlier version remembered its whole id', () => {
    expect([isRemembered({ recentRuns: [one] }, one), isRemembered({ recentRuns: [one] }, other)]).toEqual([
      true,
      false,
    ]);
  });
});
