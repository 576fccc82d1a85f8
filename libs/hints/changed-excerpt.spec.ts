import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changedExcerpt, pageTitle } from './changed-excerpt.js';

const page = (price: string): string =>
  `<title>The  red &amp; blue kettle</title><script>var price = 1</script><h1>Kettle</h1><p>It costs <b>${price}</b> today.</p>`;

describe('what changed on a page', () => {
  it('is the words around the first difference, without what nobody sees', () => {
    expect(changedExcerpt(page('45 €'), page('39 €'))).toEqual({
      before: 'Kettle It costs 45 € today.',
      after: 'Kettle It costs 39 € today.',
    });
  });

  it('is nothing where both say the same', () => {
    expect(changedExcerpt(page('45 €'), page('45 €').replace('var price = 1', 'var price = 2'))).toBeNull();
  });

  it('is short, however long the page', () => {
    const words = Array.from({ length: 5_000 }, (_, index) => `word${index}`).join(' ');
    const found = changedExcerpt(words, words.replace('word1000', 'x'.repeat(2_000)));
    expect(found?.after.length).toBeLessThan(400);
    expect(found?.before).toContain('word1000');
  });

  it('ends in time, and never fails, for any two texts', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), fc.string({ maxLength: 400 }), (one, other) => {
        const found = changedExcerpt(one, other);
        expect(found === null || (found.before.length < 400 && found.after.length < 400)).toBe(true);
      }),
    );
  });
});

describe('the title of a page', () => {
  it('is its text on one line', () => {
    expect(pageTitle(page('1'))).toBe('The red & blue kettle');
    expect(pageTitle('<p>none</p>')).toBeNull();
  });
});
