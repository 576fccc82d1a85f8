import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { firstGuess, numberIn, printSentence, quoted, readSentence } from './sentence.js';
import { sentences } from './sentence.kit.js';

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
