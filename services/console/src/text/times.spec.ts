import { afterEach, describe, expect, it } from '@jest/globals';
import { absoluteTime, clockTime, dayOf, relativeTime } from './times.js';

const now = Date.parse('2026-01-02T03:04:05.678Z');
const at = (secondsBefore: number): string => new Date(now - secondsBefore * 1_000).toISOString();

describe('a time as people read it', () => {
  let restore = (): unknown => undefined;
  afterEach(() => {
    restore();
  });

  it.each([
    [0, 'now'],
    [59, '59 sec. ago'],
    [60, '1 min. ago'],
    [7_199, '1 hr. ago'],
    [86_400, 'yesterday'],
    [-30, 'in 30 sec.'],
  ])('says %i seconds before now as %j', (seconds, words) => {
    expect(relativeTime(at(seconds), now, 'en')).toBe(words);
  });

  it('has the day in front where it is another one than today', () => {
    expect(clockTime(at(0), now, 'en-GB')).toMatch(/^\d\d:\d\d:05$/);
    expect(clockTime(at(3 * 86_400), now, 'en-GB')).toMatch(/^\d+ Dec\b.* \d\d:\d\d:05$/);
  });

  it('is of the day of UTC where the record counts by it', () => {
    expect(dayOf('2026-01-01T23:59:59.999Z', 'en-GB')).toMatch(/^Thu,? 1 Jan$/);
  });

  it('is written a thousand times by formats that were made once', () => {
    const made: string[] = [];
    const { DateTimeFormat, RelativeTimeFormat } = Intl;
    class CountedDates extends DateTimeFormat {
      constructor(...given: ConstructorParameters<typeof DateTimeFormat>) {
        super(...given);
        made.push('dates');
      }
    }
    class CountedDistances extends RelativeTimeFormat {
      constructor(...given: ConstructorParameters<typeof RelativeTimeFormat>) {
        super(...given);
        made.push('distances');
      }
    }
    Object.assign(Intl, { DateTimeFormat: CountedDates, RelativeTimeFormat: CountedDistances });
    restore = () => Object.assign(Intl, { DateTimeFormat, RelativeTimeFormat });
    for (let second = 0; second < 1_000; second += 1) {
      relativeTime(at(second), now, 'fr');
      absoluteTime(at(second), 'fr');
      clockTime(at(second), now, 'fr');
      clockTime(at(second + 3 * 86_400), now, 'fr');
      dayOf(at(second), 'fr');
    }
    expect(made.toSorted()).toEqual(['dates', 'dates', 'dates', 'dates', 'distances']);
  });
});
