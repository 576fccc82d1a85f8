import { beforeEach, describe, expect, it } from '@jest/globals';
import { Receivers, type Answered } from './receivers.js';

let released: string[];
let wakes: [string, number][];
let receivers: Receivers;

beforeEach(() => {
  released = [];
  wakes = [];
  receivers = new Receivers(
    { concurrency: 2, quickConcurrency: 4, quickMs: 100, failures: 3, probeMs: 30_000 },
    (ids) => released.push(...ids),
    (key, atMs) => wakes.push([key, atMs]),
  );
});

const answered = (durationMs: number): Answered => ({ reached: true, durationMs });
const silent: Answered = { reached: false, durationMs: 10_000 };

/** Three failures in a row, which open the breaker at `nowMs`. */
function open(key: string, nowMs: number): void {
  for (const id of ['f1', 'f2', 'f3']) {
    expect(receivers.enter(key, id, nowMs)).toBe(true);
    receivers.leave(key, silent, nowMs);
  }
}

describe('a receiver', () => {
  it('gets no more attempts at once than its share, and waiting deliveries keep their order', () => {
    expect(receivers.enter('a', '1', 0)).toBe(true);
    expect(receivers.enter('a', '2', 0)).toBe(true);
    expect(receivers.enter('a', '3', 0)).toBe(false);
    expect(receivers.enter('a', '4', 0)).toBe(false);
    expect(receivers.enter('b', '5', 0)).toBe(true);
    receivers.leave('a', answered(500), 1);
    expect(released).toEqual(['3']);
    expect(receivers.enter('a', '6', 1)).toBe(false); // the slot is reserved for 3
    expect(receivers.enter('a', '3', 1)).toBe(true);
    receivers.leave('a', answered(500), 2);
    expect(released).toEqual(['3', '4']);
  });

  it('that answers quickly gets more at once, until one answer is late', () => {
    const enter = (count: number): boolean[] =>
      Array.from({ length: count }, (_, index) => receivers.enter('a', `${index}`, 0));
    expect(enter(3)).toEqual([true, true, false]);
    receivers.leave('a', answered(100), 0);
    expect(released).toEqual(['2']);
    receivers.leave('a', answered(1), 0);
    receivers.withdraw('a', '2');
    expect(enter(5)).toEqual([true, true, true, true, false]);
    receivers.leave('a', answered(101), 0);
    // Those that are inside end first.
    expect(receivers.enter('a', '5', 0)).toBe(false);
    receivers.leave('a', answered(1), 0);
    expect(released).toEqual(['2']);
    receivers.leave('a', silent, 0);
    expect(released).toEqual(['2', '4']);
  });

  it('gives a reserved slot to the next delivery where the first did not enter', () => {
    for (const id of ['1', '2']) receivers.enter('a', id, 0);
    for (const id of ['3', '4']) receivers.enter('a', id, 0);
    receivers.leave('a', answered(500), 1);
    receivers.withdraw('a', '3');
    expect(released).toEqual(['3', '4']);
  });

  it('that does not answer gets one probe each 30 s, and nothing else', () => {
    open('a', 0);
    expect(receivers.enter('a', '1', 1)).toBe(false);
    expect(receivers.enter('a', '2', 2)).toBe(false);
    expect(wakes).toContainEqual(['a', 30_000]);
    receivers.probe('a');
    expect(released).toEqual(['1']);
    expect(receivers.enter('a', '1', 30_000)).toBe(true);
    expect(receivers.enter('a', '3', 30_000)).toBe(false);
    receivers.leave('a', silent, 30_001);
    expect(wakes).toContainEqual(['a', 60_001]);
    receivers.probe('a');
    expect(released).toEqual(['1', '2']);
  });

  it('is available as soon as a probe is answered', () => {
    open('a', 0);
    for (const id of ['1', '2', '3', '4']) receivers.enter('a', id, 1);
    receivers.probe('a');
    receivers.enter('a', '1', 30_000);
    receivers.leave('a', answered(500), 30_010);
    expect(released).toEqual(['1', '2', '3']);
    expect(receivers.enter('a', '2', 30_011)).toBe(true);
    expect(receivers.enter('a', '3', 30_011)).toBe(true);
    receivers.leave('a', answered(500), 30_012);
    expect(released).toEqual(['1', '2', '3', '4']);
  });

  it('gets another probe where the first one sent nothing', () => {
    open('a', 0);
    for (const id of ['1', '2', '3']) receivers.enter('a', id, 1);
    receivers.probe('a');
    receivers.withdraw('a', '1');
    expect(released).toEqual(['1', '2']);
    receivers.enter('a', '2', 30_000);
    receivers.leave('a', null, 30_000);
    expect(released).toEqual(['1', '2', '3']);
  });

  it('counts only failures in a row', () => {
    for (const reached of [false, false, true, false, false]) {
      receivers.enter('a', 'x', 0);
      receivers.leave('a', { reached, durationMs: 0 }, 0);
    }
    expect(receivers.enter('a', 'y', 0)).toBe(true);
  });

  it('drops a delivery that expired while it waited', () => {
    open('a', 0);
    for (const id of ['1', '2']) receivers.enter('a', id, 1);
    receivers.remove('a', '1');
    receivers.probe('a');
    expect(released).toEqual(['2']);
  });
});
