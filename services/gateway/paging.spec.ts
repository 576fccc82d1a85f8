import { describe, expect, it } from '@jest/globals';
import type { FieldFilter } from '#read-store/read-store';
import { alongIndex } from './paging.js';

const steps = [
  { field: 'trigger', values: ['schedule', 'manual'] },
  { field: 'status', values: ['succeeded', 'failed'] },
  { field: 'outcome', values: [] },
];
const everyTrigger: FieldFilter = { field: 'trigger', oneOf: ['schedule', 'manual'] };
const everyStatus: FieldFilter = { field: 'status', oneOf: ['succeeded', 'failed'] };
const manual: FieldFilter = { field: 'trigger', equals: 'manual' };
const failed: FieldFilter = { field: 'status', equals: 'failed' };
const isTrue: FieldFilter = { field: 'outcome', equals: true };
const late: FieldFilter = { field: 'queuedAt', from: '2026-01-01' };

describe('the filters of a list along its index', () => {
  it('name each value of the fields that stand before them', () => {
    expect(alongIndex(steps, [failed])).toEqual([everyTrigger, failed]);
    expect(alongIndex(steps, [isTrue, late])).toEqual([everyTrigger, everyStatus, isTrue, late]);
    expect(alongIndex(steps, [isTrue, manual])).toEqual([everyStatus, isTrue, manual]);
  });

  it('stay as they are where nothing stands before them', () => {
    expect(alongIndex(steps, [])).toEqual([]);
    expect(alongIndex(steps, [late])).toEqual([late]);
    expect(alongIndex(steps, [manual, late])).toEqual([manual, late]);
    expect(alongIndex(steps, [manual, failed, isTrue])).toEqual([manual, failed, isTrue]);
  });
});
