import { describe, expect, it } from '@jest/globals';
import { isQuiet } from './quiet-hours.js';

const berlin = {
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '22:00',
  to: '06:30',
  timezone: 'Europe/Berlin',
} as const;
const quiet = (at: string, window: Partial<Parameters<typeof isQuiet>[0][number]> = {}): boolean =>
  isQuiet([{ ...berlin, days: [...berlin.days], ...window }], at);

describe('quiet hours', () => {
  it('begin with their first minute and are over with their last', () => {
    const day = { from: '08:00', to: '18:00', timezone: 'UTC', days: ['sat' as const] };
    const seen = ['07:59:59.999', '08:00:00.000', '17:59:59.999', '18:00:00.000'];
    expect(seen.map((time) => quiet(`2026-11-21T${time}Z`, day))).toEqual([false, true, true, false]);
  });

  it('over midnight belong to the day on which they begin', () => {
    // Friday the 20th, 22:00 in Berlin, until Saturday 06:30; Saturday evening is no day of theirs, Sunday night neither.
    expect(quiet('2026-11-20T20:59:00.000Z')).toBe(false);
    expect(quiet('2026-11-20T21:00:00.000Z')).toBe(true);
    expect(quiet('2026-11-21T05:29:00.000Z')).toBe(true);
    expect(quiet('2026-11-21T05:30:00.000Z')).toBe(false);
    expect(quiet('2026-11-21T21:30:00.000Z')).toBe(false);
    expect(quiet('2026-11-22T23:30:00.000Z')).toBe(false);
    expect(quiet('2026-11-23T21:30:00.000Z')).toBe(true);
  });

  it('go by the clock of their zone in summer and winter', () => {
    expect(quiet('2026-07-20T20:00:00.000Z')).toBe(true);
    expect(quiet('2026-01-19T20:59:00.000Z')).toBe(false);
    expect(quiet('2026-01-19T21:00:00.000Z')).toBe(true);
  });

  it('in an hour that comes twice hold both times, in one that is left out never', () => {
    const twice = { from: '02:00', to: '03:00', days: ['sun' as const] };
    expect(quiet('2026-10-25T00:30:00.000Z', twice)).toBe(true);
    expect(quiet('2026-10-25T01:30:00.000Z', twice)).toBe(true);
    expect(quiet('2026-03-29T00:59:00.000Z', twice)).toBe(false);
    expect(quiet('2026-03-29T01:00:00.000Z', twice)).toBe(false);
  });

  it('until 24:00 hold to the end of the day, with midnight as the next day', () => {
    const whole = { from: '00:00', to: '24:00', days: ['sat' as const], timezone: 'UTC' };
    expect(quiet('2026-11-21T00:00:00.000Z', whole)).toBe(true);
    expect(quiet('2026-11-21T23:59:59.999Z', whole)).toBe(true);
    expect(quiet('2026-11-22T00:00:00.000Z', whole)).toBe(false);
  });

  it('in zones a day apart are each by their own day', () => {
    const at = '2026-11-21T10:30:00.000Z';
    expect(quiet(at, { days: ['sun'], from: '00:00', to: '02:00', timezone: 'Pacific/Kiritimati' })).toBe(true);
    expect(quiet(at, { days: ['fri'], from: '23:00', to: '24:00', timezone: 'Pacific/Pago_Pago' })).toBe(true);
  });

  it('are none where there are no windows', () => {
    expect(isQuiet([], '2026-11-21T10:30:00.000Z')).toBe(false);
  });
});
