import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createCountedLines, type CountedLines } from './counted-lines.js';
import { silentLogger } from './logger.js';

let written: unknown[];
let lines: CountedLines;

beforeEach(() => {
  jest.useFakeTimers();
  written = [];
  const logger = { ...silentLogger, warn: (fields: object, line: string) => void written.push({ ...fields, line }) };
  lines = createCountedLines(logger, 1_000);
});
afterEach(() => {
  jest.useRealTimers();
});

describe('lines that say the same of many things', () => {
  it('are one at once and one that counts the others', () => {
    for (const id of [1, 2, 3, 4]) lines.warn('late', { id }, 'too late');
    lines.warn('early', { id: 5 }, 'too early');
    expect(written).toEqual([
      { id: 1, line: 'too late' },
      { id: 5, line: 'too early' },
    ]);

    jest.advanceTimersByTime(1_000);
    expect(written.slice(2)).toEqual([{ id: 4, alike: 3, line: 'too late' }]);
  });

  it('go on being counted while they come, and begin anew after a pause', () => {
    for (const id of [1, 2]) lines.warn('late', { id }, 'too late');
    jest.advanceTimersByTime(1_000);
    lines.warn('late', { id: 3 }, 'too late');
    jest.advanceTimersByTime(2_000);
    lines.warn('late', { id: 4 }, 'too late');
    expect(written).toEqual([
      { id: 1, line: 'too late' },
      { id: 2, alike: 1, line: 'too late' },
      { id: 3, alike: 1, line: 'too late' },
      { id: 4, line: 'too late' },
    ]);
  });
});
