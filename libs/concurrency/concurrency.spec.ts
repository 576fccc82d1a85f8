import { describe, expect, it, jest } from '@jest/globals';
import { createKeyedQueue } from './keyed-queue.js';
import { createLru } from './lru.js';
import { createMutex } from './mutex.js';
import { retryAfterMs } from './retry-after.js';
import { onAbort } from './on-abort.js';
import { createSemaphore } from './semaphore.js';
import { sleep } from './sleep.js';
import { withTimeout, withTimeoutOr } from './timeout.js';

const never = new Promise<never>(() => undefined);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('withTimeout', () => {
  it('settles like the work where that is in time', async () => {
    await expect(withTimeout(Promise.resolve(1), 60_000, () => new Error('late'))).resolves.toBe(1);
    await expect(withTimeout(Promise.reject(new Error('broken')), 60_000, () => new Error('late'))).rejects.toThrow(
      'broken',
    );
  });

  it('rejects with the caller’s error where the work takes longer, negative times included', async () => {
    await expect(withTimeout(never, 1, () => new Error('late'))).rejects.toThrow('late');
    await expect(withTimeout(never, -1, () => new Error('late'))).rejects.toThrow('late');
  });
});

describe('withTimeoutOr', () => {
  it('resolves with the fallback where the work takes longer, and rejects like the work', async () => {
    await expect(withTimeoutOr(never, 1, 'late')).resolves.toBe('late');
    await expect(withTimeoutOr(Promise.resolve(1), 60_000, 'late')).resolves.toBe(1);
    await expect(withTimeoutOr(Promise.reject(new Error('broken')), 60_000, 'late')).rejects.toThrow('broken');
  });
});

describe('a sleep', () => {
  it('resolves after its time', async () => {
    jest.useFakeTimers();
    try {
      let isOver = false;
      const sleeping = sleep(20).then(() => (isOver = true));
      await jest.advanceTimersByTimeAsync(19);
      expect(isOver).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      await sleeping;
    } finally {
      jest.useRealTimers();
    }
  });

  it('resolves as soon as its signal aborts, also where that is aborted already', async () => {
    const ending = new AbortController();
    const sleeping = sleep(3_600_000, ending.signal);
    ending.abort();
    await Promise.all([sleeping, sleep(3_600_000, ending.signal)]);
  });

  it('keeps the process alive unless it is asked not to', () => {
    const ending = new AbortController();
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    void sleep(3_600_000, ending.signal, { ref: false });
    expect(timers()).toBe(before);
    void sleep(3_600_000, ending.signal);
    expect(timers()).toBe(before + 1);
    ending.abort();
  });
});

describe('what waits for a signal', () => {
  it('is called once, in the order in which it began to wait, unless it waits no more', () => {
    const ending = new AbortController();
    const called: number[] = [];
    onAbort(ending.signal, () => called.push(1));
    const stopWaiting = onAbort(ending.signal, () => called.push(2));
    onAbort(ending.signal, () => called.push(3));
    stopWaiting();
    ending.abort();
    expect(called).toEqual([1, 3]);
  });

  it('is not called where the signal has aborted before', () => {
    let isCalled = false;
    onAbort(AbortSignal.abort(), () => (isCalled = true))();
    expect(isCalled).toBe(false);
  });
});

describe('a mutex', () => {
  it('runs one work at a time in the order of arrival, also behind one that failed', async () => {
    const mutex = createMutex();
    const seen: string[] = [];
    const work = (name: string) => async () => {
      seen.push(`${name} begins`);
      await turn();
      seen.push(`${name} ends`);
      if (name === 'first') throw new Error('broken');
      return name;
    };
    const settled = await Promise.allSettled([mutex.run(work('first')), mutex.run(work('second'))]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(seen).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  });

  it('holds the others back until its holder releases it', async () => {
    const mutex = createMutex();
    const release = await mutex.acquire();
    let hasRun = false;
    const behind = mutex.run(async () => void (hasRun = true));
    await turn();
    expect(hasRun).toBe(false);
    release();
    await behind;
    expect(hasRun).toBe(true);
  });
});

describe('a semaphore', () => {
  it('runs work up to its limit at the same time and queues the rest', async () => {
    const semaphore = createSemaphore(2);
    const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
    const works = gates.map(({ promise }) => semaphore.run(() => promise));
    await turn();
    expect([semaphore.running, semaphore.waiting]).toEqual([2, 1]);
    gates[0]?.resolve();
    await works[0];
    await turn();
    expect([semaphore.running, semaphore.waiting]).toEqual([2, 0]);
    for (const { resolve } of gates) resolve();
    await Promise.all(works);
    expect([semaphore.running, semaphore.waiting]).toEqual([0, 0]);
  });

  it('frees the place of work that failed', async () => {
    const semaphore = createSemaphore(1);
    await expect(semaphore.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(semaphore.run(async () => 'next')).resolves.toBe('next');
  });
});

describe('a keyed queue', () => {
  it('keeps the order within a key, runs other keys meanwhile, and drops keys that are done', async () => {
    const queue = createKeyedQueue();
    const seen: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = queue.run('a', async () => {
      await gate.promise;
      seen.push('a1');
      throw new Error('broken');
    });
    const second = queue.run('a', async () => void seen.push('a2'));
    await queue.run('b', async () => void seen.push('b1'));
    expect(seen).toEqual(['b1']);
    gate.resolve();
    await expect(first).rejects.toThrow('broken');
    await second;
    await queue.idle();
    expect(seen).toEqual(['b1', 'a1', 'a2']);
  });

  it('rejects work queued behind a failure where asked to, and runs later work', async () => {
    const outage = new Error('away');
    const queue = createKeyedQueue((error) => error === outage);
    const first = queue.run('a', () => Promise.reject(outage));
    let hasRun = false;
    const behind = queue.run('a', async () => void (hasRun = true));
    const other = queue.run('b', async () => 'another key');
    await queue.idle();
    await expect(first).rejects.toBe(outage);
    await expect(behind).rejects.toBe(outage);
    expect(hasRun).toBe(false);
    await expect(other).resolves.toBe('another key');
    await expect(queue.run('a', async () => 'later')).resolves.toBe('later');
  });

  it('begins work of a free key within the call', () => {
    let hasBegun = false;
    void createKeyedQueue().run('a', async () => void (hasBegun = true));
    expect(hasBegun).toBe(true);
  });
});

describe('a bounded map', () => {
  it('drops the least recently used entry where it is full', () => {
    const map = createLru<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect([map.has('a'), map.has('b'), map.has('c'), map.size]).toEqual([true, false, true, 2]);
    map.delete('a');
    expect(map.get('a')).toBeUndefined();
    map.clear();
    expect(map.size).toBe(0);
  });
});

describe('the Retry-After parser', () => {
  const nowMs = Date.parse('2026-11-01T12:00:00Z');

  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Sun, 01 Nov 2026 12:00:30 GMT', 30_000],
    ['Sunday, 01-Nov-26 12:00:30 GMT', 30_000],
    ['Sun, 01 Nov 2026 11:00:00 GMT', 0],
    ['-5', null],
    ['1.5', null],
    ['1e3', null],
    ['2026', 2_026_000],
    ['soon', null],
    ['', null],
    ['9999999999999', null],
    [undefined, null],
  ])('reads %j as %j milliseconds', (header, expected) => {
    expect(retryAfterMs(header, nowMs)).toBe(expected);
  });
});
