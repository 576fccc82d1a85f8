import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { fetchSettings } from '#contracts/fetch';
import { loadFailureReasons } from '#page-loader/page-loader';
import { adviceOn, hintFor } from './hint.js';

describe('a hint', () => {
  it.each(loadFailureReasons)('stands beside %s, and names settings that there are', (reason) => {
    const hint = hintFor({ reason });
    const schema = z.toJSONSchema(fetchSettings, { io: 'input', unrepresentable: 'any' });
    const known = JSON.stringify(schema);
    for (const [, field] of (hint ?? '').matchAll(/fetch(?:\.[a-z]+)?\.([A-Za-z]+)/g)) {
      expect([field, known.includes(`"${field}":`)]).toEqual([field, true]);
    }
    expect(hint).toMatch(/^[A-Za-z].*[.?]$/);
  });

  it('that the run itself has goes before that of its reason', () => {
    expect(hintFor({ reason: 'timed_out', hint: 'Look here.' })).toBe('Look here.');
    expect(hintFor({ reason: 'no_such_reason' })).toBeNull();
  });

  it('is in messages about what cannot be checked alone', () => {
    const error = { reason: 'timed_out' };
    expect(adviceOn('error', error).hint).toContain('fetch.timeoutSeconds');
    expect([adviceOn('error', null), adviceOn('triggered', error), adviceOn('recovered', error)]).toEqual([{}, {}, {}]);
  });
});
