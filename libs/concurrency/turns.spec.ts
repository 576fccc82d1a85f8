import { describe, expect, it } from '@jest/globals';
import { createTurns } from './turns.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Holds the event loop. */
function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until) continue;
}

describe('turns of the event loop', () => {
  it('resume what was ready at once in the order of arrival', async () => {
    const turns = createTurns();
    const order: number[] = [];
    const numbers = Array.from({ length: 50 }, (_, number) => number);
    await Promise.all(
      numbers.map(async (number) => {
        await turns.next();
        order.push(number);
      }),
    );
    expect(order).toEqual(numbers);
  });

  it('let others run between work that would hold the loop for long', async () => {
    const turns = createTurns();
    let done = 0;
    const doneAtTurns: number[] = [];
    const work = Promise.all(
      Array.from({ length: 20 }, async () => {
        await turns.next();
        hold(3);
        done += 1;
      }),
    );
    while (done < 20) {
      doneAtTurns.push(done);
      await nextTurn();
    }
    await work;
    // Two of them use up a turn.
    expect(doneAtTurns.length).toBeGreaterThanOrEqual(8);
  });

  it('count what was resumed with all that it made ready', async () => {
    const turns = createTurns();
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      await turns.next();
      for (let step = 0; step < 5; step += 1) {
        order.push(name);
        await Promise.resolve();
      }
    };
    await Promise.all([work('a'), work('b')]);
    expect(order.join('')).toBe('aaaaabbbbb');
  });

  it('begin at once where nothing else waits', async () => {
    const turns = createTurns();
    let isLater = false;
    setImmediate(() => (isLater = true));
    await turns.next();
    expect(isLater).toBe(false);
  });
});
