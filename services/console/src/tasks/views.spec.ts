import { describe, expect, it } from '@jest/globals';
import { defaultColumns, isInSight } from './views.js';

const view = { name: 'Met', search: '?condition=true&tag=price', columns: defaultColumns };

describe('a saved view of the list', () => {
  it('is in sight where the list shows its filter and columns, in whichever order they are written', () => {
    expect(isInSight(view, '?tag=price&condition=true', [...defaultColumns].reverse())).toBe(true);
  });

  it.each([
    ['another filter', '?condition=true', defaultColumns],
    ['another order', '?tag=price&condition=true&sort=name', defaultColumns],
    ['other columns', '?tag=price&condition=true', defaultColumns.slice(1)],
  ])('is not in sight where the list shows %s', (_what, search, shown) => {
    expect(isInSight(view, search, shown)).toBe(false);
  });
});
