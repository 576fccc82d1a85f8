import { describe, expect, it } from '@jest/globals';
import { OwnNetwork } from './own-network.js';

const minute = 60_000;

function network(probe: (() => Promise<boolean>) | null = null) {
  const clock = { now: 0 };
  const changes: boolean[] = [];
  const own = new OwnNetwork({ now: () => clock.now, onChange: (isDown) => changes.push(isDown), probe });
  const hosts = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, at) => `site-${from + at}.example`);
  const answered = (from: number, to: number): void => {
    clock.now += 1;
    for (const host of hosts(from, to)) own.answered(host);
  };
  /** The verdict on the last one. */
  const fail = async (from: number, to: number, networkOf = (at: number) => `net-${at}`): Promise<boolean> => {
    clock.now += 1;
    let verdict = false;
    for (const [at, host] of hosts(from, to).entries()) verdict = await own.unreachable(host, networkOf(from + at));
    return verdict;
  };
  return { clock, changes, answered, fail };
}

describe('the network on this side', () => {
  it('is down where ten hosts of five networks, which answered before, go out of reach and nothing answers', async () => {
    const { answered, fail, changes } = network();
    answered(0, 12);
    expect(await fail(0, 9)).toBe(false);
    expect(await fail(9, 10, () => 'net-0')).toBe(true);
    expect(changes).toEqual([true]);
  });

  it('is not down because hosts are dead that never answered', async () => {
    const { answered, fail } = network();
    answered(100, 103);
    expect(await fail(0, 60)).toBe(false);
  });

  it('is not down because many services on one host, or in four networks in all, go down', async () => {
    const { answered, fail } = network();
    answered(0, 40);
    expect(await fail(0, 20, () => 'net')).toBe(false);
    expect(await fail(20, 40, (at) => `net-${at % 3}`)).toBe(false);
  });

  it('is up as long as another host answers', async () => {
    const { answered, fail, changes } = network();
    answered(0, 40);
    await fail(0, 30);
    answered(60, 61);
    expect(await fail(30, 39)).toBe(false);
    expect(await fail(39, 40)).toBe(true);
    answered(60, 61);
    expect(changes).toEqual([true, false]);
    expect(await fail(0, 1)).toBe(false);
  });

  it('is up where the operator’s address answers, and down where it does not although another host does', async () => {
    let isUp = true;
    let probes = 0;
    const { answered, fail, clock, changes } = network(async () => {
      probes += 1;
      return isUp;
    });
    answered(0, 21);
    expect(await fail(0, 20)).toBe(false);
    expect(probes).toBe(1);
    isUp = false;
    clock.now += 11_000;
    answered(20, 21);
    expect(await fail(0, 20)).toBe(true);
    expect(changes).toEqual([true]);
  });

  it('is not judged by hosts last heard of a minute ago, or that answered last an hour ago', async () => {
    const { answered, fail, clock } = network();
    answered(0, 12);
    await fail(0, 9);
    clock.now += minute;
    expect(await fail(9, 10)).toBe(false);
    clock.now += 61 * minute;
    expect(await fail(0, 12)).toBe(false);
  });
});
