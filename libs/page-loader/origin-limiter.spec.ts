import { describe, expect, it } from '@jest/globals';
import { OriginLimiter } from './origin-limiter.js';

function limited(): { readonly limiter: OriginLimiter; readonly clock: { now: number } } {
  const clock = { now: 0 };
  const limiter = new OriginLimiter({
    maxConcurrentLoads: 2,
    breakerFailures: 3,
    breakerMs: 30_000,
    now: () => clock.now,
  });
  return { limiter, clock };
}

const down = { reason: 'connect_failed', message: 'Refused.', status: null } as const;
const spared = {
  reason: 'connect_failed',
  message: expect.stringMatching(/^Refused\. The site failed \d times in a row/),
};
const never = new AbortController().signal;

describe('an origin limiter', () => {
  it('gives slots in the order of the queue', async () => {
    const { limiter } = limited();
    expect([limiter.enter('a'), limiter.enter('a'), limiter.enter('a')]).toEqual([true, true, false]);
    expect(limiter.enter('b')).toBe(true);
    const order: number[] = [];
    const waits = [1, 2, 3].map((turn) => limiter.enterQueue('a', 60_000, never).then(() => order.push(turn)));
    limiter.leave('a', null, 10);
    await waits[0];
    expect(order).toEqual([1]);
    limiter.leave('a', null, 10);
    limiter.leave('a', null, 10);
    await Promise.all(waits);
    expect(order).toEqual([1, 2, 3]);
  });

  it('queues only loads that will have their turn in time, at the pace of the site', async () => {
    const { limiter } = limited();
    limiter.enter('slow');
    limiter.leave('slow', null, 20_000);
    limiter.enter('slow');
    limiter.enter('slow');
    const queued = [1, 2].map(() => limiter.enterQueue('slow', 30_000, never));
    expect(await limiter.enterQueue('slow', 25_000, never)).toBe(false);
    expect(await limiter.enterQueue('slow', 29_999, never)).toBe(false);
    limiter.leave('slow', null, 20_000);
    limiter.leave('slow', null, 20_000);
    expect(await Promise.all(queued)).toEqual([true, true]);
  });

  it('gives no slot to a load that left the queue', async () => {
    const { limiter } = limited();
    limiter.enter('a');
    limiter.enter('a');
    const impatient = new AbortController();
    const first = limiter.enterQueue('a', 60_000, impatient.signal);
    const second = limiter.enterQueue('a', 60_000, never);
    impatient.abort();
    expect(await first).toBe(false);
    expect(await limiter.enterQueue('a', 60_000, AbortSignal.abort())).toBe(false);
    expect(await limiter.enterQueue('a', 1, never)).toBe(false);
    limiter.leave('a', null, 10);
    expect(await second).toBe(true);
    limiter.leave('a', null, 10);
    limiter.leave('a', null, 10);
    expect([limiter.enter('a'), limiter.enter('a'), limiter.enter('a')]).toEqual([true, true, false]);
  });
});

describe('the circuit breaker of a site', () => {
  function failTimes(limiter: OriginLimiter, times: number): void {
    for (let i = 0; i < times; i += 1) {
      limiter.enter('a');
      limiter.leave('a', down, 10);
    }
  }

  it('opens after a number of failures in a row, for that site alone', () => {
    const { limiter } = limited();
    failTimes(limiter, 2);
    expect(limiter.refusalOf('a')).toBeNull();
    failTimes(limiter, 1);
    expect(limiter.refusalOf('a')).toMatchObject(spared);
    expect(limiter.refusalOf('b')).toBeNull();
  });

  it('stays closed where an answer comes between failures', () => {
    const { limiter } = limited();
    failTimes(limiter, 2);
    limiter.enter('a');
    limiter.leave('a', null, 10);
    failTimes(limiter, 2);
    expect(limiter.refusalOf('a')).toBeNull();
  });

  it('lets one probe through each half minute, and closes when that is answered', () => {
    const { limiter, clock } = limited();
    failTimes(limiter, 3);
    clock.now = 29_999;
    expect(limiter.refusalOf('a')).toMatchObject(spared);
    clock.now = 30_000;
    expect(limiter.refusalOf('a')).toBeNull();
    expect(limiter.refusalOf('a')).toMatchObject(spared);
    failTimes(limiter, 1);
    clock.now = 59_999;
    expect(limiter.refusalOf('a')).toMatchObject(spared);
    clock.now = 60_000;
    expect(limiter.refusalOf('a')).toBeNull();
    limiter.enter('a');
    limiter.leave('a', null, 10);
    expect(limiter.refusalOf('a')).toBeNull();
    expect(limiter.refusalOf('a')).toBeNull();
  });
});

describe('a site that asks for a pause by Retry-After', () => {
  const busy = { reason: 'http_status', message: 'Busy.', status: 429 } as const;

  it('gets no load for as long as it asked', () => {
    const { limiter, clock } = limited();
    limiter.pause('a', 5_000, busy);
    expect(limiter.pauseOf('a')).toMatchObject({
      ...busy,
      message: 'Busy. The site asked to be left alone (Retry-After), for another 5 s.',
      leftMs: 5_000,
    });
    expect(limiter.pauseOf('b')).toBeNull();
    clock.now = 4_999;
    expect(limiter.pauseOf('a')).toMatchObject({ leftMs: 1 });
    clock.now = 5_000;
    expect(limiter.pauseOf('a')).toBeNull();
  });

  it('cannot shorten an earlier pause, nor ask for more than an hour', () => {
    const { limiter } = limited();
    limiter.pause('a', 9_000, busy);
    limiter.pause('a', 1_000, busy);
    expect(limiter.pauseOf('a')).toMatchObject({ leftMs: 9_000 });
    limiter.pause('a', 1e12, busy);
    expect(limiter.pauseOf('a')).toMatchObject({ leftMs: 3_600_000 });
  });
});
