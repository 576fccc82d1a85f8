import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backslashed, entity } from './escapes.js';
import { bytes, characters, messageText, shortened, utf16, type Measure } from './text-limits.js';

describe('a text for a receiver', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['👩‍👩‍👧 family', 4, '…'],
    ['é👍🏽x', 3, 'é…'],
  ])('%j cut to %i characters is %j', (text, limit, cut) => {
    expect(shortened(text, limit, characters)).toBe(cut);
  });

  it('keeps the limit in the unit of the vendor when cut, and stays well-formed', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 3, max: 50 }),
        fc.constantFrom(bytes, characters),
        (text, limit, measure) => {
          const cut = shortened(text, limit, measure);
          expect(measure(cut)).toBeLessThanOrEqual(limit);
          expect(cut.isWellFormed()).toBe(true);
          if (measure(text) <= limit) expect(cut).toBe(text);
        },
      ),
    );
  });

  /** Character by character, as a user sees them: what is cut is held against it. */
  const shortenedSlowly = (text: string, limit: number, measure: Measure, unbroken?: RegExp): string => {
    if (measure(text) <= limit) return text;
    const segments = (part: string) => Array.from(new Intl.Segmenter('en').segment(part), ({ segment }) => segment);
    const pieces: string[] = [];
    let at = 0;
    for (const match of unbroken === undefined ? [] : text.matchAll(unbroken)) {
      pieces.push(...segments(text.slice(at, match.index)), match[0]);
      at = match.index + match[0].length;
    }
    pieces.push(...segments(text.slice(at)));
    let left = limit - measure('…');
    const kept = pieces.slice(
      0,
      pieces.findIndex((piece) => (left -= measure(piece)) < 0),
    );
    return `${kept.join('')}…`;
  };

  it('is cut at the last place where a character or an escape ends', () => {
    const part = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        '&amp;',
        '&#39;',
        '\\\\',
        '\\.',
        '@\u200b',
        '\r\n',
        '👩‍👩‍👧',
        'e\u0301\u0302',
        '🇩🇪🇫🇷',
        'क्षि',
        '\u200d',
      ),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 30 }).map((parts) => parts.join('').toWellFormed()),
        fc.integer({ min: 0, max: 60 }),
        fc.constantFrom(bytes, characters, utf16),
        fc.constantFrom(undefined, entity, backslashed),
        (text, limit, measure, unbroken) => {
          expect(shortened(text, limit, measure, unbroken)).toBe(shortenedSlowly(text, limit, measure, unbroken));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('is never empty and holds no invisible or bidirectional control character', () => {
    expect(messageText(' \u0000\u202e ')).toBe('–');
    expect(messageText('a\u001b[31m\r\n\tb\u2066')).toBe('a[31m\n\tb');
  });
});
