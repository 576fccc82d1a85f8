import { describe, expect, it } from '@jest/globals';
import { stateOf } from '../marks/state.js';
import { filterOf, searchOf, stateFilters } from './task-filter.js';

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

describe('the buttons above the list of tasks', () => {
  const tasks = (['active', 'paused'] as const).flatMap((status) =>
    (['ok', 'error', 'blocked'] as const).flatMap((health) =>
      (['unknown', 'false', 'true', 'flapping'] as const).map((condition) => ({ status, health, condition })),
    ),
  );

  it.each(tasks)('have $status, $health, $condition under the state alone that its row shows', (task) => {
    const takes = stateFilters.filter(({ filter }) =>
      Object.entries(filter).every(([name, value]) => task[name as keyof typeof task] === value),
    );
    expect(takes.map(({ state }) => state)).toEqual([null, stateOf(task)]);
  });
});
