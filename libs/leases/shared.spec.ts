import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createDocumentState } from '#shared-state/document-state';
import type { SharedState } from '#shared-state/shared-state';
import { createLeaseRounds, defaultLeaseTimes, leasesCollection, ownerOf, type LeaseRounds } from './shared.js';
import { shardCount, shardOf } from './leases.js';

const { deadAfterMs, lapseMs } = defaultLeaseTimes;

describe('leases that processes share', () => {
  let readStore: ReturnType<typeof createSqliteReadStore>;
  let sharedState: SharedState;
  let nowMs: number;
  beforeEach(() => {
    readStore = createSqliteReadStore(':memory:');
    sharedState = createDocumentState(readStore);
    nowMs = 1_000_000;
  });
  afterEach(() => readStore.close());

  const member = (memberId: string, store: SharedState = sharedState): LeaseRounds =>
    createLeaseRounds({ sharedState: store, memberId, logger: silentLogger, monotonicMs: () => nowMs });

  /** Work that says where it runs. */
  const work = (rounds: LeaseRounds, who: string, name: string, running: Set<string>) =>
    rounds.whileHeld(name, async (signal) => {
      running.add(who);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      running.delete(who);
    });

  it('gives a name to the one member that rendezvous hashing chooses', async () => {
    const running = new Set<string>();
    const members = ['m1', 'm2', 'm3'].map((id) => ({ id, rounds: member(id) }));
    for (const { id, rounds } of members) work(rounds, id, 'view-tasks', running);
    for (let round = 0; round < 3; round += 1) for (const { rounds } of members) await rounds.round();
    expect([...running]).toEqual([ownerOf('view-tasks', ['m1', 'm2', 'm3'])]);
  });

  it('never runs a name in two members that can reach the store, while members come and go', async () => {
    const running = new Set<string>();
    const first = member('m1');
    work(first, 'm1', 'name', running);
    await first.round();
    expect([...running]).toEqual(['m1']);
    const rest = ['m2', 'm3', 'm4'].map((id) => ({ id, rounds: member(id) }));
    for (const { id, rounds } of rest) {
      work(rounds, id, 'name', running);
      for (const each of [first, ...rest.map((one) => one.rounds)]) {
        await each.round();
        expect(running.size).toBeLessThanOrEqual(1);
      }
    }
    expect(running.size).toBe(1);
  });

  it('shares out all shards among those that live, each to one', async () => {
    const [a, b] = [member('m1'), member('m2')];
    const shards = [a.shards('slots'), b.shards('slots')];
    for (let round = 0; round < 3; round += 1) for (const rounds of [a, b]) await rounds.round();
    const held = shards.map((one) => one.held());
    expect(held.flat().toSorted((x, y) => x - y)).toEqual(Array.from({ length: shardCount }, (_, shard) => shard));
    for (const one of held) expect(one.length).toBeGreaterThan(shardCount / 4);
    const owners = shards.filter((one) => one.holds('ntf_1'));
    expect(owners).toHaveLength(1);
    expect(owners[0]?.held()).toContain(shardOf('ntf_1'));
  });

  it('takes over from a dead member, not before it is dead', async () => {
    const [a, b] = [member('m1'), member('m2')];
    a.shards('slots');
    await a.round();
    const shards = b.shards('slots');
    await b.round();
    nowMs += deadAfterMs - 1;
    await b.round();
    expect(shards.held()).toEqual([]);
    nowMs += 1;
    await b.round();
    expect(shards.held()).toHaveLength(shardCount);
  });

  it('holds nothing once it could not beat for a while, before anybody takes over', async () => {
    const running = new Set<string>();
    const a = member('m1');
    const shards = a.shards('slots');
    work(a, 'm1', 'name', running);
    await a.round();
    expect(running.has('m1')).toBe(true);
    nowMs += lapseMs;
    expect(shards.held()).toEqual([]);
    await a.settle();
    expect(running.has('m1')).toBe(false);
    expect(lapseMs).toBeLessThan(deadAfterMs);
  });

  it('comes back after a pause without what others took meanwhile', async () => {
    const [a, b] = [member('m1'), member('m2')];
    const [mine, theirs] = [a.shards('slots'), b.shards('slots')];
    await a.round();
    await b.round();
    nowMs += deadAfterMs;
    await b.round();
    await a.round();
    expect(mine.held().filter((shard) => theirs.held().includes(shard))).toEqual([]);
    await b.round();
    await a.round();
    expect(new Set([...mine.held(), ...theirs.held()]).size).toBe(shardCount);
  });

  it('knows who lives: the dead, the closed and the never seen do not', async () => {
    const [a, b] = [member('m1'), member('m2')];
    expect(b.isLiving('m1')).toBe(true);
    await a.round();
    await b.round();
    expect(['m1', 'm2', 'm0'].map((id) => b.isLiving(id))).toEqual([true, true, false]);
    nowMs += deadAfterMs;
    await b.round();
    expect(b.isLiving('m1')).toBe(false);
    await a.round();
    await b.round();
    expect(b.isLiving('m1')).toBe(true);
    await a.close();
    await b.round();
    expect(b.isLiving('m1')).toBe(false);
  });

  it('gives everything back when it is closed', async () => {
    const [a, b] = [member('m1'), member('m2')];
    a.shards('slots');
    await a.round();
    const shards = b.shards('slots');
    await a.close();
    await b.round();
    expect(shards.held()).toHaveLength(shardCount);
  });

  it('ends work before its name is handed over', async () => {
    const [one = '', other = ''] = ['m1', 'm2'].toSorted((x) => (x === ownerOf('name', ['m1', 'm2']) ? 1 : -1));
    const order: string[] = [];
    const loser = member(one);
    loser.whileHeld('name', async (signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      order.push('ended');
    });
    await loser.round();
    const winner = member(other);
    winner.whileHeld('name', async () => void order.push('begun'));
    await winner.round();
    await loser.round();
    await winner.round();
    expect(order).toEqual(['ended', 'begun']);
  });

  describe('reads who owns what', () => {
    let reads: number;
    const counting = (): SharedState => ({
      ...sharedState,
      list(collection, limit) {
        if (collection.name === leasesCollection.name) reads += 1;
        return sharedState.list(collection, limit);
      },
    });
    /** Two that share all shards and have nothing to tell one another any more. */
    const settled = async () => {
      const [a, b] = [member('m1', counting()), member('m2')];
      const shards = a.shards('slots');
      b.shards('slots');
      for (let round = 0; round < 3; round += 1) for (const rounds of [a, b]) await rounds.round();
      reads = 0;
      return { a, b, shards };
    };

    it('only now and then where nobody has changed it', async () => {
      const { a, b } = await settled();
      for (let round = 0; round < 20; round += 1) for (const rounds of [a, b]) await rounds.round();
      expect(reads).toBeLessThanOrEqual(4);
    });

    it('at the first look after another one has changed it', async () => {
      const { a, b, shards } = await settled();
      const before = shards.held().length;
      const c = member('m3');
      c.shards('slots');
      await c.round();
      await a.round();
      const given = shards.held().length;
      expect(given).toBeLessThan(before);
      await b.round();
      await b.close();
      await c.round();
      // Who takes what another one left knows it for its own.
      await a.round();
      await c.round();
      reads = 0;
      await a.round();
      expect([shards.held().length > given, reads]).toEqual([true, 1]);
    });

    it('once it could not beat for as long as it may hold anything', async () => {
      const { a, b } = await settled();
      nowMs += lapseMs;
      await b.round();
      await a.round();
      expect(reads).toBe(1);
    });

    it('soon enough where one died before it could tell of a change', async () => {
      const { a, b, shards } = await settled();
      const [shard = -1] = shards.held();
      const name = `slots/${shard}`;
      await sharedState.save(leasesCollection, [{ key: name, version: 9, value: { name, owner: 'm9', fence: 9 } }]);
      let rounds = 0;
      for (
        ;
        rounds < 9 && (await sharedState.load(leasesCollection, [name])).get(name)?.value?.owner !== 'm1';
        rounds += 1
      ) {
        for (const one of [b, a]) await one.round();
      }
      expect(rounds * defaultLeaseTimes.beatMs).toBeLessThan(deadAfterMs);
    });
  });

  it('rejects a round that cannot reach the store, and goes on with the next', async () => {
    let isDown = true;
    const flaky: SharedState = {
      ...sharedState,
      save: (collection, writes) => (isDown ? Promise.reject(new Error('down')) : sharedState.save(collection, writes)),
    };
    const a = member('m1', flaky);
    const shards = a.shards('slots');
    await expect(a.round()).rejects.toThrow('down');
    expect(shards.held()).toEqual([]);
    isDown = false;
    await a.round();
    expect(shards.held()).toHaveLength(shardCount);
  });
});
