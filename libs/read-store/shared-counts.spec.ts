import { describe, expect, it } from '@jest/globals';
import { createSharedCounts } from './shared-counts.js';

describe('counts that are shared', () => {
  it('run one at a time for a question; who comes meanwhile gets the next one', async () => {
    const counts = createSharedCounts();
    const begun: PromiseWithResolvers<number>[] = [];
    const count = (): Promise<number> => {
      const one = Promise.withResolvers<number>();
      begun.push(one);
      return one.promise;
    };
    const first = counts('all', count);
    const later = Array.from({ length: 50 }, () => counts('all', count));
    const other = counts('paused', count);
    expect(begun).toHaveLength(2);
    begun[1]?.resolve(7);
    expect(await other).toBe(7);
    begun[0]?.resolve(1);
    expect(await first).toBe(1);
    await Promise.resolve();
    expect(begun).toHaveLength(3);
    begun[2]?.resolve(2);
    expect(new Set(await Promise.all(later))).toEqual(new Set([2]));
    void counts('all', count);
    expect(begun).toHaveLength(4);
  });

  it('fail for those who asked, and for nobody after them', async () => {
    const counts = createSharedCounts();
    const failing = counts('all', async () => {
      throw new Error('gone');
    });
    const next = counts('all', async () => 3);
    await expect(failing).rejects.toThrow('gone');
    expect(await next).toBe(3);
    expect(await counts('all', async () => 4)).toBe(4);
  });
});
