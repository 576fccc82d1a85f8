import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonEquals } from './json.js';

const isSameText = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Few names and values, so that two of them are often alike. */
const leaf = fc.constantFrom(undefined, null, true, 0, -0, 1.5, Number.NaN, '', 'a', 'null', '0');
const value = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('list'), tie('object')),
  list: fc.array(tie('any'), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('any'), { maxKeys: 3 }),
})).any;

describe('two values', () => {
  it('are equal where they are the same text of JSON, and in no other case', () => {
    fc.assert(
      fc.property(value, value, (one, other) => {
        expect(jsonEquals(one, other)).toBe(isSameText(one, other));
        expect(jsonEquals(one, structuredClone(one))).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    [new Date(0), new Date(0).toISOString()],
    [{ at: new Date(0) }, { at: new Date(0).toISOString() }],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [[undefined], [null]],
    [{ a: undefined }, {}],
    [undefined, null],
    [[], {}],
  ])('%j and %j are equal where their texts are', (one, other) => {
    expect(jsonEquals(one, other)).toBe(isSameText(one, other));
  });
});
