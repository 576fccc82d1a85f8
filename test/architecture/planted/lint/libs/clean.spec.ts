import { describe, expect, it } from '@jest/globals';
import { describeLight } from './clean.js';

describe('a light', () => {
  it('tells since when it is lit', async () => {
    const told = await describeLight(() => Promise.resolve({ state: 'on', since: 'noon' }));
    expect(told).toBe('lit since noon');
  });
});
