import { describe, expect, it } from '@jest/globals';
import { OwnNetwork } from './own-network.js';

function network() {
  const clock = { now: 0 };
  const changes: boolean[] = [];
  const own = new OwnNetwork(
    () => clock.now,
    (isDown) => changes.push(isDown),
  );
  const tell = (from: number, to: number, isDown: boolean): boolean => {
    let answer = false;
    for (let site = from; site < to; site += 1) answer = own.tell(`https://site-${site}.example`, isDown);
    return answer;
  };
  return { clock, changes, tell };
}

describe('the network of this process', () => {
  it('is blamed where more than four of five sites are unreachable, out of ten or more', () => {
    const { tell, changes } = network();
    expect(tell(0, 9, true)).toBe(false);
    expect(tell(9, 10, true)).toBe(true);
    expect(changes).toEqual([true]);
  });

  it('is not blamed where one site fails again and again, nor where a fifth is reachable', () => {
    const { tell, changes } = network();
    for (let round = 0; round < 50; round += 1) expect(tell(0, 1, true)).toBe(false);
    expect(tell(1, 4, false)).toBe(false);
    expect(tell(4, 15, true)).toBe(false);
    expect(changes).toEqual([]);
  });

  it('is trusted again once sites answer; loads older than a minute do not count', () => {
    const { tell, clock, changes } = network();
    tell(0, 12, true);
    expect(tell(0, 3, false)).toBe(false);
    tell(0, 3, true);
    expect(changes).toEqual([true, false, true]);
    clock.now = 60_000;
    expect(tell(0, 1, true)).toBe(false);
    expect(changes.at(-1)).toBe(false);
  });
});
