import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createDocumentState } from '#shared-state/document-state';
import type { SharedState } from '#shared-state/shared-state';
import { createQuota, quotaHeaders, quotaCollection, type Quota } from './quota.js';

const budget = { limit: 3, windowMs: 1_000 };

describe('a budget', () => {
  let readStore: ReturnType<typeof createSqliteReadStore>;
  let sharedState: SharedState;
  beforeEach(() => {
    readStore = createSqliteReadStore(':memory:');
    sharedState = createDocumentState(readStore);
  });
  afterEach(() => readStore.close());

  it('lasts for a window that begins with the first request, refusals cost nothing', async () => {
    const time = { ms: 500 };
    const quota = createQuota(sharedState, { now: () => time.ms });
    const taken = [];
    for (let i = 0; i < 5; i += 1) taken.push(await quota.take('a', budget));
    expect(taken.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
    ]);
    expect(taken.at(-1)?.resetAtMs).toBe(1_500);
    time.ms = 1_499;
    expect((await quota.take('a', budget)).allowed).toBe(false);
    time.ms = 1_500;
    expect(await quota.take('a', budget)).toEqual({ allowed: true, limit: 3, remaining: 2, resetAtMs: 2_500 });
  });

  it('lets requests in while the count cannot be written, as far as it goes, and counts them with the next write', async () => {
    let isFull = false;
    const quota = createQuota(
      {
        ...sharedState,
        save: (collection, writes) =>
          isFull ? Promise.reject(new Error('the disk is full')) : sharedState.save(collection, writes),
      },
      { now: () => 0 },
    );
    expect((await quota.take('a', budget)).remaining).toBe(2);
    isFull = true;
    expect(await quota.take('a', budget)).toMatchObject({ allowed: true, remaining: 1 });
    expect(await quota.take('a', budget)).toMatchObject({ allowed: true, remaining: 0 });
    await expect(quota.take('a', budget)).rejects.toThrow('the disk is full');
    isFull = false;
    expect((await quota.take('a', budget)).allowed).toBe(false);
    expect((await createQuota(sharedState, { now: () => 0 }).take('a', budget)).allowed).toBe(false);
  });

  it('is each subject’s own', async () => {
    const quota = createQuota(sharedState, { now: () => 0 });
    for (let i = 0; i < 3; i += 1) await quota.take('a', budget);
    expect((await quota.take('b', budget)).remaining).toBe(2);
  });

  it('keeps what was used when the plan changes', async () => {
    const quota = createQuota(sharedState, { now: () => 0 });
    for (let i = 0; i < 3; i += 1) await quota.take('a', budget);
    expect(await quota.take('a', { ...budget, limit: 10 })).toMatchObject({ allowed: true, remaining: 6 });
    expect(await quota.take('a', { ...budget, limit: 2 })).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('is shared by gateways: spent to the last request and never more, however many ask at once', async () => {
    const gateways = [1, 2, 3].map(() => createQuota(sharedState, { now: () => 0 }));
    const large = { limit: 100, windowMs: 1_000 };
    const asked = Array.from({ length: 90 }, () => gateways.map((gateway) => gateway.take('a', large))).flat();
    const states = await Promise.all(asked);
    const allowed = states.filter((state) => state.allowed);
    expect(allowed.map(({ remaining }) => remaining).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 100 }, (_, left) => left),
    );
    expect(states.filter((state) => !state.allowed).every(({ remaining }) => remaining === 0)).toBe(true);
  });

  it('is spent to the last request through one gateway after others have taken from it under load', async () => {
    const time = { ms: 0 };
    const [one, other] = [1, 2].map(() => createQuota(sharedState, { now: () => time.ms })) as [Quota, Quota];
    const large = { limit: 5_000, windowMs: 100_000 };
    const flood = (count: number) => Promise.all(Array.from({ length: count }, () => one.take('a', large)));
    for (let round = 0; round < 10; round += 1) await flood(50);
    for (let round = 0; round < 20; round += 1) await one.take('a', large);
    const rest = await Promise.all(Array.from({ length: 5_000 }, () => other.take('a', large)));
    expect(rest.filter((state) => state.allowed)).toHaveLength(5_000 - 520);
  });

  it('pays a request that counts as several whole or not at all', async () => {
    const quota = createQuota(sharedState, { now: () => 0 });
    const ten = { limit: 10, windowMs: 1_000 };
    expect(await quota.take('a', ten, 7)).toMatchObject({ allowed: true, remaining: 3 });
    expect(await quota.take('a', ten, 4)).toMatchObject({ allowed: false, remaining: 3 });
    expect(await quota.take('a', ten, 3)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await quota.take('a', ten)).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('is looked at without taking from it', async () => {
    const time = { ms: 0 };
    const quota = createQuota(sharedState, { now: () => time.ms });
    expect(await quota.look('a', budget)).toBeNull();
    await quota.take('a', budget);
    for (let look = 0; look < 3; look += 1) expect(await quota.look('a', budget)).toMatchObject({ remaining: 2 });
    time.ms = 1_000;
    expect(await quota.look('a', budget)).toBeNull();
  });

  it('keeps its count exactly where a gateway ends in order', async () => {
    const large = { limit: 100_000, windowMs: 100_000 };
    const first = createQuota(sharedState, { now: () => 0 });
    for (let round = 0; round < 10; round += 1)
      await Promise.all(Array.from({ length: 37 }, () => first.take('a', large)));
    await first.close();
    expect(await createQuota(sharedState, { now: () => 0 }).take('a', large)).toMatchObject({
      remaining: 100_000 - 371,
    });
  });

  it('fails those that wait where the store fails, and serves those that come later', async () => {
    let isDown = true;
    const failing: SharedState = {
      ...sharedState,
      load: (...asked) => (isDown ? Promise.reject(new Error('down')) : sharedState.load(...asked)),
    };
    const quota = createQuota(failing, { now: () => 0 });
    const both = await Promise.allSettled([quota.take('a', budget), quota.take('a', budget)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isDown = false;
    expect(await quota.take('a', budget)).toMatchObject({ allowed: true, remaining: 2 });
  });

  it('is used to the last one by a gateway that is alone, and outlives it', async () => {
    const large = { limit: 100, windowMs: 1_000 };
    const first = createQuota(sharedState, { now: () => 0 });
    const taken = [];
    for (let i = 0; i < 101; i += 1) taken.push((await first.take('a', large)).allowed);
    expect(taken).toEqual([...Array.from({ length: 100 }, () => true), false]);
    expect((await createQuota(sharedState, { now: () => 0 }).take('a', large)).allowed).toBe(false);
  });

  it('leaves nothing behind once its window is over', async () => {
    await createQuota(sharedState, { now: () => 0 }).take('a', budget);
    await sharedState.removeExpired(quotaCollection, 999);
    expect(await sharedState.list(quotaCollection, 10)).toHaveLength(1);
    await sharedState.removeExpired(quotaCollection, 1_000);
    expect(await sharedState.list(quotaCollection, 10)).toEqual([]);
  });

  it('is told in both forms of headers', () => {
    const state = { allowed: true, limit: 100, remaining: 99, resetAtMs: 3_600_400 };
    expect(quotaHeaders(state, 3_600_000, 400)).toEqual({
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '99',
      'x-ratelimit-reset': '3601',
      'ratelimit-policy': '"organization";q=100;w=3600',
      ratelimit: '"organization";r=99;t=3600',
    });
  });
});
