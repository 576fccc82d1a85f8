import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createIds, derivedEventId, derivedId, encodeUlid, isId, timeOfId } from './ids.js';

const bits = fc.uint8Array({ minLength: 10, maxLength: 10 });
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe('ids', () => {
  it('are ULIDs: the example of the specification, in lower case', () => {
    expect(encodeUlid(1_469_918_176_385, new Uint8Array(10))).toBe('01aryz6s410000000000000000');
    expect(encodeUlid(2 ** 48 - 1, new Uint8Array(10).fill(255))).toBe('7zzzzzzzzzzzzzzzzzzzzzzzzz');
  });

  it('hold their time, are well-formed, and sort by time', () => {
    fc.assert(
      fc.property(time, time, bits, bits, (one, other, oneBits, otherBits) => {
        const id = `ntf_${encodeUlid(one, oneBits)}`;
        expect(isId(id, 'ntf')).toBe(true);
        expect(isId(id, 'act')).toBe(false);
        expect(timeOfId(id)).toBe(one);
        if (one < other) expect(id < `ntf_${encodeUlid(other, otherBits)}`).toBe(true);
      }),
    );
  });

  it('are refused where they are too short, too long, in capitals or of another alphabet', () => {
    const good = `ntf_${encodeUlid(1, new Uint8Array(10))}`;
    for (const bad of [
      good.slice(0, -1),
      `${good}0`,
      good.toUpperCase(),
      `${good.slice(0, -1)}u`,
      'ntf_',
      '',
      `${good}\n`,
    ]) {
      expect(isId(bad, 'ntf')).toBe(false);
    }
  });

  it('grow within a millisecond too, and when the clock goes back', () => {
    const times = [5, 5, 5, 3, 3, 6];
    const ids = createIds(() => times.shift() ?? 6);
    const made = Array.from({ length: 8 }, () => ids.next('evt'));
    expect(made).toEqual(made.toSorted());
    expect(new Set(made).size).toBe(made.length);
  });

  it('come out alike wherever they are derived from the same parts', () => {
    expect(derivedId('exe', 7, 'a', 'slot', '7')).toBe(derivedId('exe', 7, 'a', 'slot', '7'));
    expect(derivedId('exe', 7, 'a', 'slot', '7')).not.toBe(derivedId('exe', 7, 'b', 'slot', '7'));
    expect(derivedEventId('a', '0')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
