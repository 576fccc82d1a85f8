import { describe, expect, it } from '@jest/globals';
import { secondsOf, spanOf } from './spans.js';

describe('a span of time in a form', () => {
  it('is said in the largest unit that leaves no rest, and means the same seconds', () => {
    for (const [seconds, count, unit] of [
      [300, 5, 'minutes'],
      [3_600, 1, 'hours'],
      [86_400, 1, 'days'],
      [90, 90, 'seconds'],
      [0, 0, 'seconds'],
    ] as const) {
      expect(spanOf(seconds)).toEqual({ count, unit });
      expect(secondsOf(count, unit)).toBe(seconds);
    }
  });

  it('stays in the unit that somebody wants, where that leaves no rest', () => {
    expect(spanOf(0, 'minutes')).toEqual({ count: 0, unit: 'minutes' });
    expect(spanOf(3_600, 'minutes')).toEqual({ count: 60, unit: 'minutes' });
    expect(spanOf(90, 'minutes')).toEqual({ count: 90, unit: 'seconds' });
  });
});
