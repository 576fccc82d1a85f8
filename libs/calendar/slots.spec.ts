import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { schedule as schema, toStoredSchedule, wholeSchedule, type Schedule } from '#contracts/schedule';
import { dueSlots, dueTime, dueTimes, firstSlot, mostCounted, slotAfter } from './slots.js';
import { isInWindow } from './windows.js';

const taskId = 'ntf_00000000000000000000000001';
const ms = (time: string): number => Date.parse(time);
const shown = (times: readonly number[]): string[] => times.map((time) => new Date(time).toISOString().slice(0, 16));
const scheduleOf = (given: object): Schedule => schema.parse(given);
const slotsOf = (given: object, from: string, count: number): string[] => {
  const schedule = scheduleOf(given);
  return shown(dueTimes(schedule, taskId, firstSlot(schedule, ms(from)), count));
};

const office = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '09:00' };

describe('the slots of a schedule', () => {
  it('lie in its windows alone, an interval beginning anew where one opens', () => {
    const interval = { type: 'interval', intervalSeconds: 1_500, windows: [office], timezone: 'Europe/Berlin' };
    expect(slotsOf(interval, '2026-11-20T07:10:00Z', 4)).toEqual([
      '2026-11-20T07:10',
      '2026-11-20T07:35',
      '2026-11-23T07:00',
      '2026-11-23T07:25',
    ]);
    expect(slotsOf({ type: 'cron', cron: '30 * * * *', windows: [office] }, '2026-11-20T08:31:00Z', 2)).toEqual([
      '2026-11-23T08:30',
      '2026-11-24T08:30',
    ]);
  });

  it('lie between its beginning and its end', () => {
    const bounds = { startAt: '2026-12-01T10:00:00+01:00', endAt: '2026-12-01T09:20:00Z' };
    expect(slotsOf({ type: 'interval', intervalSeconds: 600, ...bounds }, '2026-11-20T00:00:00Z', 9)).toEqual([
      '2026-12-01T09:00',
      '2026-12-01T09:10',
      '2026-12-01T09:20',
    ]);
  });

  it('are one where it is due once, and none where it is manual or over', () => {
    const once = { type: 'once', at: '2026-12-01T10:00:00Z' };
    expect(slotsOf(once, '2026-11-20T00:00:00Z', 9)).toEqual(['2026-12-01T10:00']);
    expect(slotsOf(once, '2026-12-02T00:00:00Z', 9)).toEqual([]);
    expect(slotsOf({ type: 'manual' }, '2026-12-02T00:00:00Z', 9)).toEqual([]);
  });

  it('are none where no slot ever lies in a window', () => {
    const never = { type: 'cron', cron: '30 12 * * *', windows: [{ from: '08:00', to: '09:00' }] };
    expect(firstSlot(scheduleOf(never), ms('2026-12-02T00:00:00Z'))).toBeNull();
  });

  it('are counted while nobody fired them, however many they were', () => {
    const minutely = scheduleOf({ type: 'cron', cron: '* * * * *' });
    const from = ms('2026-01-01T00:00:00Z');
    expect(dueSlots(minutely, taskId, from, from + 150_000)).toEqual({
      latestMs: from + 120_000,
      missed: { fromMs: from, toMs: from + 60_000, count: 2 },
      nextMs: from + 180_000,
    });
    const now = ms('2026-12-31T23:59:30Z');
    const { latestMs, missed, nextMs } = dueSlots(minutely, taskId, from, now);
    expect(shown([latestMs, nextMs ?? 0])).toEqual(['2026-12-31T23:59', '2027-01-01T00:00']);
    expect(missed).toMatchObject({ fromMs: from, count: mostCounted });
    const plain = scheduleOf({ type: 'interval', intervalSeconds: 1 });
    expect(dueSlots(plain, taskId, from, now).missed?.count).toBe((now - from) / 1_000);
  });

  it('come later by a part of the jitter, the same each time they are asked for', () => {
    const jittered = scheduleOf({ type: 'interval', intervalSeconds: 600, jitterSeconds: 60 });
    const slots = Array.from({ length: 50 }, (_, n) => n * 600_000);
    const delays = slots.map((slot) => dueTime(jittered, taskId, slot) - slot);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThan(60_000);
    expect(new Set(delays).size).toBeGreaterThan(40);
    expect(slots.map((slot) => dueTime(jittered, taskId, slot) - slot)).toEqual(delays);
  });

  const windows = fc.array(
    fc.record({
      days: fc.uniqueArray(fc.constantFrom('mon', 'wed', 'sun'), { minLength: 1 }),
      from: fc.constantFrom('00:00', '08:00', '22:30'),
      to: fc.constantFrom('06:15', '18:00', '24:00'),
    }),
    { maxLength: 2 },
  );
  const timezone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York');
  const schedules = fc.oneof(
    fc.record({
      type: fc.constant('interval'),
      intervalSeconds: fc.integer({ min: 60, max: 100_000 }),
      windows,
      timezone,
    }),
    fc.record({
      type: fc.constant('cron'),
      cron: fc.constantFrom('*/20 * * * *', '30 2 * * *', '0 9 * * mon'),
      windows,
      timezone,
    }),
  );

  it('are strictly later one after the other, and in a window', () => {
    const from = fc.integer({ min: ms('2026-01-01T00:00:00Z'), max: ms('2027-01-01T00:00:00Z') });
    fc.assert(
      fc.property(schedules, from, (given, fromMs) => {
        const schedule = scheduleOf(given);
        let before = fromMs - 1;
        let slot = firstSlot(schedule, fromMs);
        for (let count = 0; count < 20 && slot !== null; count += 1) {
          const at = slot;
          expect(at).toBeGreaterThan(before);
          if (given.windows.length > 0) {
            expect(given.windows.some((window) => isInWindow(window as never, given.timezone, at))).toBe(true);
          }
          before = at;
          slot = slotAfter(schedule, at);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('of any schedule are those of what is stored of it', () => {
    fc.assert(
      fc.property(schedules, (given) => {
        const schedule = scheduleOf(given);
        expect(wholeSchedule(toStoredSchedule(schedule))).toEqual(schedule);
      }),
    );
  });
});
