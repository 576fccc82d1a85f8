import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bytes, characters, messageText, shortened } from './text-limits.js';

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

  it('is never empty and holds no invisible or bidirectional control character', () => {
    expect(messageText(' \u0000\u202e ')).toBe('–');
    expect(messageText('a\u001b[31m\r\n\tb\u2066')).toBe('a[31m\n\tb');
  });
});
