import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createFairSlots } from './fair-slots.js';

describe('fair slots', () => {
  it('never give a key more than its share, while others take the rest', async () => {
    const slots = createFairSlots({ slots: 4, shares: { organization: 3 } });
    const granted: string[] = [];
    const take = (organization: string) =>
      slots.acquire({ organization }).then((release) => {
        granted.push(organization);
        return release;
      });
    const greedy = Array.from({ length: 10 }, () => take('greedy'));
    const other = await take('other');
    expect(granted).toEqual(['greedy', 'greedy', 'greedy', 'other']);
    other();
    await take('other');
    expect(slots).toMatchObject({ held: 4, waiting: 7 });
    (await greedy[0])?.();
    await greedy[3];
    expect(slots).toMatchObject({ held: 4, waiting: 6 });
  });

  it('are had at once where one is free, and never beyond a share', () => {
    const slots = createFairSlots({ slots: 2, shares: { task: 1 } });
    const release = slots.tryAcquire({ task: 'a' });
    expect([release === null, slots.tryAcquire({ task: 'a' }), slots.held]).toEqual([false, null, 1]);
    release?.();
    expect(slots.tryAcquire({ task: 'a' })).not.toBeNull();
  });

  it('are left to the next in line by one that gave up in time', async () => {
    const slots = createFairSlots({ slots: 1, shares: { task: 1 } });
    const release = await slots.acquireWithin({ task: 'a' }, 60_000);
    const patient = slots.acquireWithin({ task: 'b' }, 60_000);
    expect(await slots.acquireWithin({ task: 'c' }, 1)).toBeNull();
    expect(slots).toMatchObject({ held: 1, waiting: 1 });
    release?.();
    (await patient)?.();
    expect(slots).toMatchObject({ held: 0, waiting: 0 });
  });

  it('count a slot that is given back twice once', async () => {
    const slots = createFairSlots({ slots: 1, shares: { task: 1 } });
    const release = await slots.acquire({ task: 'a' });
    release();
    release();
    expect(slots.held).toBe(0);
  });

  it('bound a share of each kind, whatever is asked for and given back in whatever order', async () => {
    const shares = { organization: 3, task: 2, retry: 2 };
    const asked = fc.record({
      organization: fc.constantFrom('a', 'b'),
      task: fc.constantFrom('1', '2', '3'),
      retry: fc.constantFrom(undefined, 'yes'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(asked, { maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 40 }),
        async (all, order) => {
          const slots = createFairSlots({ slots: 5, shares });
          const holding: { readonly keys: (typeof all)[number]; readonly release: () => void }[] = [];
          for (const { retry, ...keys } of all) {
            const given = retry === undefined ? keys : { ...keys, retry };
            void slots.acquire(given).then((release) => holding.push({ keys: { ...keys, retry }, release }));
          }
          for (const at of [...order, ...all.map(() => 0)]) {
            await new Promise((resolve) => setImmediate(resolve));
            expect(holding.length).toBe(slots.held);
            expect(slots.held).toBeLessThanOrEqual(5);
            for (const kind of ['organization', 'task', 'retry'] as const) {
              const counts = Map.groupBy(
                holding.filter(({ keys }) => keys[kind] !== undefined),
                ({ keys }) => keys[kind],
              );
              for (const held of counts.values()) expect(held.length).toBeLessThanOrEqual(shares[kind]);
            }
            holding.splice(at % Math.max(1, holding.length), 1)[0]?.release();
          }
          await new Promise((resolve) => setImmediate(resolve));
          expect(slots).toMatchObject({ held: 0, waiting: 0 });
        },
      ),
      { numRuns: 60 },
    );
  });
});
