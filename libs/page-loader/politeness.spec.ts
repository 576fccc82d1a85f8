import { describe, expect, it } from '@jest/globals';
import { Politeness } from './politeness.js';

function polite(): { readonly politeness: Politeness; readonly clock: { now: number } } {
  const clock = { now: 0 };
  const politeness = new Politeness({ loadsAtOnce: 2, breakerFailures: 3, breakerMs: 30_000, now: () => clock.now });
  return { politeness, clock };
}

const down = { reason: 'connect_failed', message: 'Refused.', status: null } as const;
const spared = {
  reason: 'connect_failed',
  message: expect.stringMatching(/^Refused\. The site failed \d times in a row/),
};
const never = new AbortController().signal;

describe('places at a site', () => {
  it('are given in the order of the line', async () => {
    const { politeness } = polite();
    expect([politeness.enter('a'), politeness.enter('a'), politeness.enter('a')]).toEqual([true, true, false]);
    expect(politeness.enter('b')).toBe(true);
    const order: number[] = [];
    const waits = [1, 2, 3].map((turn) => politeness.enterInLine('a', 60_000, never).then(() => order.push(turn)));
    politeness.leave('a', null);
    await waits[0];
    expect(order).toEqual([1]);
    politeness.leave('a', null);
    politeness.leave('a', null);
    await Promise.all(waits);
    expect(order).toEqual([1, 2, 3]);
  });

  it('are not held by who left the line', async () => {
    const { politeness } = polite();
    politeness.enter('a');
    politeness.enter('a');
    const impatient = new AbortController();
    const first = politeness.enterInLine('a', 60_000, impatient.signal);
    const second = politeness.enterInLine('a', 60_000, never);
    impatient.abort();
    expect(await first).toBe(false);
    expect(await politeness.enterInLine('a', 60_000, AbortSignal.abort())).toBe(false);
    expect(await politeness.enterInLine('a', 1, never)).toBe(false);
    politeness.leave('a', null);
    expect(await second).toBe(true);
    politeness.leave('a', null);
    politeness.leave('a', null);
    expect([politeness.enter('a'), politeness.enter('a'), politeness.enter('a')]).toEqual([true, true, false]);
  });
});

describe('the breaker of a site', () => {
  function failTimes(politeness: Politeness, times: number): void {
    for (let i = 0; i < times; i += 1) {
      politeness.enter('a');
      politeness.leave('a', down);
    }
  }

  it('opens after so many failures in a row, for this site alone', () => {
    const { politeness } = polite();
    failTimes(politeness, 2);
    expect(politeness.refusalOf('a')).toBeNull();
    failTimes(politeness, 1);
    expect(politeness.refusalOf('a')).toMatchObject(spared);
    expect(politeness.refusalOf('b')).toBeNull();
  });

  it('stays closed where an answer comes between failures', () => {
    const { politeness } = polite();
    failTimes(politeness, 2);
    politeness.enter('a');
    politeness.leave('a', null);
    failTimes(politeness, 2);
    expect(politeness.refusalOf('a')).toBeNull();
  });

  it('lets one probe through each half minute, and closes when it gets an answer', () => {
    const { politeness, clock } = polite();
    failTimes(politeness, 3);
    clock.now = 29_999;
    expect(politeness.refusalOf('a')).toMatchObject(spared);
    clock.now = 30_000;
    expect(politeness.refusalOf('a')).toBeNull();
    expect(politeness.refusalOf('a')).toMatchObject(spared);
    failTimes(politeness, 1);
    clock.now = 59_999;
    expect(politeness.refusalOf('a')).toMatchObject(spared);
    clock.now = 60_000;
    expect(politeness.refusalOf('a')).toBeNull();
    politeness.enter('a');
    politeness.leave('a', null);
    expect(politeness.refusalOf('a')).toBeNull();
    expect(politeness.refusalOf('a')).toBeNull();
  });
});

describe('a site that asks to be left alone', () => {
  const busy = { reason: 'http_status', message: 'Busy.', status: 429 } as const;

  it('is left alone for as long as it asked, by all', () => {
    const { politeness, clock } = polite();
    politeness.pause('a', 5_000, busy);
    expect(politeness.pauseOf('a')).toMatchObject({
      ...busy,
      message: 'Busy. The site asked to be left alone (Retry-After), for another 5 s.',
      leftMs: 5_000,
    });
    expect(politeness.pauseOf('b')).toBeNull();
    clock.now = 4_999;
    expect(politeness.pauseOf('a')).toMatchObject({ leftMs: 1 });
    clock.now = 5_000;
    expect(politeness.pauseOf('a')).toBeNull();
  });

  it('cannot shorten what it asked for before, nor ask for more than an hour', () => {
    const { politeness } = polite();
    politeness.pause('a', 9_000, busy);
    politeness.pause('a', 1_000, busy);
    expect(politeness.pauseOf('a')).toMatchObject({ leftMs: 9_000 });
    politeness.pause('a', 1e12, busy);
    expect(politeness.pauseOf('a')).toMatchObject({ leftMs: 3_600_000 });
  });
});
