import { describe, expect, it } from '@jest/globals';
import { differencesOf, placesOf, sourceLinesOf } from './page-differences.js';

const lines = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, at) => `line ${from + at}`);

describe('the differences of two pages', () => {
  it('show what changed with two lines around it, and fold the rest into a number', () => {
    const before = [...lines(0, 10), '1.499 €', ...lines(10, 20)];
    const after = [...lines(0, 10), '1.299 €', ...lines(10, 20)];
    const pieces = differencesOf(before, after) ?? [];
    expect(pieces).toEqual([
      { kind: 'folded', count: 8 },
      { kind: 'same', lines: lines(8, 10) },
      { kind: 'removed', lines: ['1.499 €'] },
      { kind: 'added', lines: ['1.299 €'] },
      { kind: 'same', lines: lines(10, 12) },
      { kind: 'folded', count: 8 },
    ]);
    expect(placesOf(pieces)).toBe(1);
  });

  it('are none where both say the same', () => {
    expect(differencesOf(lines(0, 3), lines(0, 3))).toEqual([{ kind: 'folded', count: 3 }]);
    expect(differencesOf([], [])).toEqual([]);
  });

  it('are counted by places, not by lines', () => {
    const pieces = differencesOf(['a', 'b', 'c', 'd', 'e'], ['x', 'y', 'b', 'c', 'd', 'z']) ?? [];
    expect(placesOf(pieces)).toBe(2);
  });

  it('of the source are found in a page that is one line', () => {
    expect(sourceLinesOf('<ul><li>a</li> <li>b</li></ul>')).toEqual(['<ul>', '<li>a</li>', '<li>b</li>', '</ul>']);
  });
});
