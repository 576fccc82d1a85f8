import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteReadStore } from '#read-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { createDocumentState } from '#shared-state/document-state';
import { DependencyTurns } from './dependency-turns.js';

describe('a turn to add a dependency', () => {
  let store: ViewStore;
  let nowMs: number;
  /** As in a process of its own. */
  const gateway = (): DependencyTurns => new DependencyTurns(createDocumentState(store), { now: () => nowMs }, store);

  beforeEach(() => {
    nowMs = 1_000_000;
    store = createSqliteReadStore(':memory:');
  });
  afterEach(() => store.close());

  it('is had by one at a time, over several gateways, so that no two close a cycle that neither has seen', async () => {
    const gateways = [gateway(), gateway(), gateway()] as const;
    const parents = new Map<number, number>();
    const leadsTo = (from: number, to: number): boolean => {
      const next = parents.get(from);
      return from === to || (next !== undefined && leadsTo(next, to));
    };
    const add = async (child: number, parent: number): Promise<boolean> => {
      const isCycle = leadsTo(parent, child);
      await Promise.resolve();
      if (!isCycle) parents.set(child, parent);
      return !isCycle;
    };
    const added = await Promise.all(
      gateways.flatMap((one, place) =>
        [0, 3, 6].map((first) => one.run('org_a', () => add(first + place, (first + place + 1) % 9))),
      ),
    );
    expect(added.filter((isAdded) => isAdded !== true)).toHaveLength(1);
  });

  it('is given back where the work fails, and the failure is the caller’s', async () => {
    const failing = gateway().run('org_a', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await gateway().run('org_a', () => Promise.resolve('next'))).toBe('next');
  });

  it('of another organisation is not waited for', async () => {
    const held = Promise.withResolvers<void>();
    const first = gateway().run('org_a', () => held.promise);
    expect(await gateway().run('org_b', () => Promise.resolve('at once'))).toBe('at once');
    held.resolve();
    await first;
  });

  it('of a process that died is over after its time, and what it does later frees nobody else’s', async () => {
    const held = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<void>();
    const dead = gateway().run('org_a', () => {
      taken.resolve();
      return held.promise;
    });
    await taken.promise;
    nowMs += 30_001;
    const order: string[] = [];
    let third: Promise<unknown> = Promise.resolve();
    await gateway().run('org_a', async () => {
      held.resolve();
      await dead;
      third = gateway().run('org_a', () => Promise.resolve(order.push('third')));
      await Promise.resolve();
      order.push('second');
    });
    await third;
    expect(order).toEqual(['second', 'third']);
  });
});
