import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { secretMask } from '#runtime/secret-mask';
import { createTextRedactor, redactedCharacters } from './text-redactor.js';

/** Marks every place of every word, and takes out what is marked. */
function naive(text: string, words: readonly string[]): string {
  const haystack = text.toLowerCase();
  const marked = new Array<boolean>(text.length).fill(false);
  const begins = new Set<number>();
  for (const word of words) {
    for (let at = haystack.indexOf(word); at >= 0; at = haystack.indexOf(word, at + 1)) {
      if (!marked[at] || !marked[at - 1]) begins.add(at);
      marked.fill(true, at, at + word.length);
    }
  }
  return text
    .split('')
    .map((character, at) => (marked[at] ? '\0' : character))
    .join('');
}

const masksAsOne = (text: string): string => text.replace(/(?:\0)+/g, secretMask);
const joined = (text: string): string => text.replaceAll(/(?:\*{8})+/g, secretMask);

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 4, maxLength: 9 });
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', 'x'), maxLength: 60 });

describe('the redactor of texts', () => {
  it('takes out just what a search for each word would, overlaps included', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), text, (words, given) => {
        const redact = createTextRedactor(new Map(words.map((one) => [one, secretMask])));
        expect(joined(redact(given))).toBe(masksAsOne(naive(given, words)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives each word its own replacement, and words that overlap a mask', () => {
    const redact = createTextRedactor(
      new Map([
        ['anna@example.com', 'a…@example.com'],
        ['secret', secretMask],
        ['example.community', 'never'],
      ]),
    );
    expect(redact('Anna@Example.com knows the SECRET')).toBe('a…@example.com knows the ********');
    expect(redact('anna@example.community')).toBe('********');
  });

  it('reads no more than is kept, and leaves no part of a word that begins there', () => {
    const long = 'k'.repeat(8_000);
    const redact = createTextRedactor(new Map([[long, secretMask]]));
    expect(redact('x'.repeat(1_000_000))).toBe('x'.repeat(redactedCharacters));
    expect(redact(`${'x'.repeat(redactedCharacters - 1)}${long}`)).toBe(
      `${'x'.repeat(redactedCharacters - 1)}${secretMask}`,
    );
    expect(redact(`${long}${'y'.repeat(9_000)}`)).toBe(secretMask);
  });

  it('is not slowed down by many long words with one beginning: each place is compared once', () => {
    const words = new Map(Array.from({ length: 5_000 }, (_, at) => [`${'a'.repeat(1_000 + at)}b${at}`, secretMask]));
    const redact = createTextRedactor(words);
    expect(redact('a'.repeat(65_536))).toBe('a'.repeat(redactedCharacters));
  });
});
