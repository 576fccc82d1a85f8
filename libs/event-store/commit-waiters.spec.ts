import { describe, expect, it } from '@jest/globals';
import { createCommitWaiters } from './commit-waiters.js';

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a subscriber that has seen everything', () => {
  it('is woken by what it wants alone, and knows how far it came with what it does not', async () => {
    const waiters = createCommitWaiters();
    const woken: number[] = [];
    void waiters
      .join(never)
      .next(3, new Set(['a-']))
      .then((position) => woken.push(position));
    waiters.committed(new Set(['b-']), 5);
    waiters.committed(new Set(['b-', 'c-']), 8);
    await turn();
    expect(woken).toEqual([]);
    waiters.committed(new Set(['c-', 'a-']), 9);
    await turn();
    expect(woken).toEqual([8]);
  });

  it('is woken by any commit where it wants more than kinds', async () => {
    const waiters = createCommitWaiters();
    const waiting = waiters.join(never).next(3, null);
    waiters.committed(new Set(['b-']), 5);
    expect(await waiting).toBe(3);
  });

  it('is woken where its subscription ends, also before it waits, and where the store is closed', async () => {
    const waiters = createCommitWaiters();
    const ending = new AbortController();
    const waiting = waiters.join(ending.signal).next(3, new Set(['a-']));
    ending.abort();
    expect(await waiting).toBe(3);
    expect(await waiters.join(ending.signal).next(4, new Set(['a-']))).toBe(4);
    const other = waiters.join(never).next(7, new Set(['a-']));
    waiters.wakeAll();
    expect(await other).toBe(7);
  });
});
