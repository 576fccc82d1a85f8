import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Fifo } from './fifo.js';

describe('a fifo', () => {
  it('gives what a plain list would, whatever is put in, taken and removed', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('push' as const), item: fc.nat(8) }),
      fc.record({ do: fc.constant('remove' as const), item: fc.nat(8) }),
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({ do: fc.constant('clear' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const fifo = new Fifo<number>();
        let list: number[] = [];
        for (const one of steps) {
          if (one.do === 'take') expect(fifo.take()).toBe(list.shift());
          else if (one.do === 'clear') {
            fifo.clear();
            list = [];
          } else if (one.do === 'remove') {
            expect(fifo.remove(one.item)).toBe(list.includes(one.item));
            list = list.filter((item) => item !== one.item);
          } else {
            fifo.push(one.item);
            if (!list.includes(one.item)) list.push(one.item);
          }
          expect(fifo.size).toBe(list.length);
        }
      }),
    );
  });

  it('takes the whole of a long one without looking at what was taken before', () => {
    const fifo = new Fifo<number>();
    const count = 300_000;
    for (let item = 0; item < count; item += 1) fifo.push(item);
    let sum = 0;
    for (let item = fifo.take(); item !== undefined; item = fifo.take()) sum += item;
    expect([sum, fifo.size]).toEqual([(count * (count - 1)) / 2, 0]);
  });
});
