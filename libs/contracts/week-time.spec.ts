import { describe, expect, it } from '@jest/globals';
import { timezone } from './week-time.js';

describe('a zone that does not exist', () => {
  it.each([
    ['Europe/Berln', 'Europe/Berlin'],
    ['europe lisbon', 'Europe/Lisbon'],
    ['New York', 'America/New_York'],
    ['Tokio', 'Asia/Tokyo'],
    ['+01:00', 'Europe/Berlin'],
    ['', 'Europe/Berlin'],
    ['x'.repeat(64), 'Europe/Berlin'],
  ])('is refused with the one that was meant: %s', (given, meant) => {
    const [issue] = timezone.safeParse(given).error?.issues ?? [];
    expect(issue?.message).toBe(`must be a zone such as ${meant}`);
  });
});
