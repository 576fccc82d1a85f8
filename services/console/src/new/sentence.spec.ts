import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { firstGuess, numberIn, printSentence, quoted, readSentence, type Sentence } from './sentence.js';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((one) => one.toLowerCase() === one);
const selector = fc.oneof(fc.constantFrom('.price', '#a > b', `[data-x='1']`, 'a[title="x\\"y"]'), text);
const number = fc
  .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((one) => !Object.is(one, -0));
const compare = fc.constantFrom('below', 'above', 'atMost', 'atLeast', 'exactly' as const);
const locale = fc.constantFrom('', 'de', 'en');
const isNegated = fc.boolean();

const sentences: fc.Arbitrary<Sentence> = fc.oneof(
  fc.record({ kind: fc.constant('number' as const), selector, locale, compare, limit: number }),
  fc.record({ kind: fc.constant('numberChanges' as const), selector, locale, by: number, isPercent: fc.boolean() }),
  fc.record({ kind: fc.constant('says' as const), selector, text, isNegated }),
  fc.record({ kind: fc.constant('matches' as const), selector, pattern: text }),
  fc.record({ kind: fc.constant('appears' as const), selector, isGone: fc.boolean() }),
  fc.record({ kind: fc.constant('changes' as const), selector }),
  fc.record({ kind: fc.constant('newText' as const), selector, text }),
  fc.record({ kind: fc.constant('newItem' as const), selector }),
  fc.record({ kind: fc.constant('count' as const), selector, isMore: fc.boolean(), count: fc.nat() }),
  fc.record({ kind: fc.constant('pageSays' as const), text, isNegated }),
  fc.record({ kind: fc.constant('json' as const), path: fc.constantFrom('price', 'a.b.0.c'), compare, limit: number }),
  fc.record({ kind: fc.constant('status' as const), status: fc.integer({ min: 100, max: 599 }) }),
  fc.record({ kind: fc.constant('certificate' as const), days: fc.nat() }),
);

describe('a condition as a sentence', () => {
  it('is read back from the code that it prints', () => {
    fc.assert(fc.property(sentences, (sentence) => expect(readSentence(printSentence(sentence))).toEqual(sentence)));
  });

  it('is not read from code that was changed by hand, by a single blank', () => {
    fc.assert(fc.property(sentences, (sentence) => expect(readSentence(`${printSentence(sentence)} `)).toBeNull()));
  });

  it('prints texts as strings that cannot end early', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (one) => {
        const literal = quoted(one);
        expect(/^'(?:[^'\\\n]|\\.)*'$/u.test(literal)).toBe(true);
      }),
    );
  });
});

describe('the first guess about what was clicked', () => {
  it('is a limit where there is a number, with its value and its language', () => {
    expect(firstGuess('.price', '1.299,00 €', 1)).toEqual({
      kind: 'number',
      selector: '.price',
      locale: 'de',
      compare: 'below',
      limit: 1299,
    });
    expect(firstGuess('.price', '$1,299.50', 1)).toMatchObject({ locale: 'en', limit: 1299.5 });
    expect(numberIn('no digits')).toBeNull();
  });

  it('is a new item where several alike stand together, and a change elsewhere', () => {
    expect(firstGuess('li', 'First news of the day', 5).kind).toBe('newItem');
    expect(firstGuess('.status', 'All systems go', 1).kind).toBe('changes');
    expect(firstGuess('.stock', 'Sold out', 1).kind).toBe('says');
  });
});
