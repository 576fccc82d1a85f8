import { describe, expect, it } from '@jest/globals';
import { priceAt } from './shop.js';

describe('the price in the demo', () => {
  it('is the regular one when the watcher looks for the first time, and drops soon', () => {
    expect([1, 2, 3].map(priceAt)).toEqual([129, 129, 89]);
  });

  it('goes up and down as long as somebody watches', () => {
    const prices = Array.from({ length: 60 }, (_, index) => priceAt(index + 1));
    const changes = prices.filter((price, index) => index > 0 && price !== prices[index - 1]);
    expect(changes).toEqual([89, 129, 89, 129, 89]);
  });
});
