/** What the fast page parser is trained on: the parser's bytes hang on it. */
import { describe, expect, it } from '@jest/globals';
import { makeTrainingPages } from '../../scripts/training-pages.mjs';

describe('the training pages', () => {
  const pages = makeTrainingPages();

  it('are the same each time they are made', () => {
    expect(makeTrainingPages()).toEqual(pages);
  });

  it('are different documents and fragments', () => {
    expect(new Set(pages.map(({ html }) => html)).size).toBe(pages.length);
    expect(pages.map(({ context }) => context)).toEqual(expect.arrayContaining(['document', 'div', 'tbody']));
  });

  it.each([
    ['end tags left out', /<td[^>]*>[^<]*\s<td/],
    ['formatting that overlaps', /<b>[^<]*<i>[^<]*<\/b>[^<]*<\/i>/],
    ['forms', /<select[^]*<option[^]*<textarea/],
    ['foreign elements', /<svg[^]*<path/],
    ['scripts and styles in the page', /<style>[^]*<script>/],
    ['comments', /<!-- /],
    ['entities', /&amp;[^]*&#x20AC;/],
    ['text of more than one byte a letter', /[а-я]/],
  ])('hold %s', (_what, shape) => {
    expect(pages.filter(({ html }) => shape.test(html)).length).toBeGreaterThan(0);
  });

  it('are long enough to include rare markup, and short enough for a build', () => {
    const bytes = pages.reduce((sum, { html }) => sum + Buffer.byteLength(html), 0);
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(bytes).toBeLessThan(2_000_000);
  });
});
