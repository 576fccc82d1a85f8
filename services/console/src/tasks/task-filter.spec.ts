import { describe, expect, it } from '@jest/globals';
import { filterOf, searchOf } from './task-filter.js';

describe('the filter of the list of tasks', () => {
  it('reads back from the address what was written into it', () => {
    const filter = { q: 'chair & desk', tag: 'price', condition: 'true', sort: 'name' } as const;
    expect(filterOf(searchOf(filter))).toEqual(filter);
  });

  it('leaves an address without a filter empty', () => {
    expect(searchOf(filterOf(''))).toBe('');
  });

  it('passes over values that the API would refuse', () => {
    expect(filterOf('?status=gone&sort=colour&condition=maybe&q=%20')).toEqual({ sort: 'attention' });
  });
});
