import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { faultOfCron, nextCronRun } from './cron.js';
import { wallOf } from './zone.js';

const ms = (time: string): number => Date.parse(time);
const nextOf = (cron: string, timezone: string, after: string, count: number): string[] => {
  const times: string[] = [];
  for (let atMs: number | null = ms(after); times.length < count;) {
    atMs = nextCronRun(cron, timezone, atMs);
    if (atMs === null) break;
    times.push(new Date(atMs).toISOString().slice(0, 16));
  }
  return times;
};

describe('a cron in a zone', () => {
  it('runs by the clock on the wall, in summer and in winter', () => {
    expect(nextOf('0 8 * * *', 'Europe/Berlin', '2026-03-27T12:00:00Z', 3)).toEqual([
      '2026-03-28T07:00',
      '2026-03-29T06:00',
      '2026-03-30T06:00',
    ]);
  });

  it('runs once, at the first instant after the gap, where its times do not exist', () => {
    expect(nextOf('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ]);
    expect(nextOf('15,45 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 3)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:15',
      '2026-03-30T00:45',
    ]);
  });

  it('runs the first time only where its time comes twice', () => {
    expect(nextOf('15,45 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 3)).toEqual([
      '2026-10-25T00:15',
      '2026-10-25T00:45',
      '2026-10-26T01:15',
    ]);
    expect(nextOf('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T05:30',
      '2026-11-02T06:30',
    ]);
  });

  it('keeps its real spacing where it runs every hour or more often', () => {
    expect(nextOf('30 * * * *', 'Europe/Berlin', '2026-10-24T23:45:00Z', 3)).toEqual([
      '2026-10-25T00:30',
      '2026-10-25T01:30',
      '2026-10-25T02:30',
    ]);
    expect(nextOf('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:15:00Z', 3)).toEqual([
      '2026-03-29T00:30',
      '2026-03-29T01:00',
      '2026-03-29T01:30',
    ]);
  });

  it('follows zones with half hours and with changes of half an hour', () => {
    expect(nextOf('0 9 * * *', 'Asia/Kolkata', '2026-01-01T00:00:00Z', 1)).toEqual(['2026-01-01T03:30']);
    expect(nextOf('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 2)).toEqual([
      '2026-10-03T15:30',
      '2026-10-04T15:15',
    ]);
  });

  it('never runs where no date fits', () => {
    expect(nextCronRun('0 0 30 2 *', 'UTC', ms('2026-01-01T00:00:00Z'))).toBeNull();
    expect(nextCronRun('0 0 30 2 *', 'Europe/Berlin', ms('2026-01-01T00:00:00Z'))).toBeNull();
  });

  it.each(['61 * * * *', '* * * * * *', '* * *', 'every day', '', '* 25 * * *', '*/0 * * * *'])(
    'is refused in words where it is none: %j',
    (cron) => {
      expect(faultOfCron(cron)).toMatch(/\w/);
    },
  );

  it('is always later than what was before, and at a minute that it names', () => {
    const crons = fc.constantFrom('5 4 * * *', '*/7 3,14 * * *', '0 0 1 * *', '30 2 * * sun', '*/15 * * * *');
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata');
    const from = fc.integer({ min: ms('2026-01-01T00:00:00Z'), max: ms('2028-01-01T00:00:00Z') });
    fc.assert(
      fc.property(crons, zones, from, (cron, zone, afterMs) => {
        const nextMs = nextCronRun(cron, zone, afterMs) ?? Number.NaN;
        expect(nextMs).toBeGreaterThan(afterMs);
        expect(nextMs % 60_000).toBe(0);
        // The same from anywhere before it.
        expect(nextCronRun(cron, zone, nextMs - 1)).toBe(nextMs);
        expect(wallOf(zone, nextMs) % 60_000).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
