import { describe, expect, it } from '@jest/globals';

describe('a sum', () => {
  it.each([1, 2])('is the same whichever number comes first: %i', (number) => {
    expect(number + 1).toBe(1 + number);
  });

  it('of nothing is zero', () => {
    const news: readonly number[] = [];
    expect(news.length).toBe(0);
  });
});
