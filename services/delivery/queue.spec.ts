import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DeliveryQueue, type NextLook } from './queue.js';

const nowMs = 1_000_000;
const steps = new Map<string, PromiseWithResolvers<NextLook>>();
let begun: string[];
let queue: DeliveryQueue;

/** Ends the step that is in progress, and waits until the queue has seen it. */
async function end(id: string, next: NextLook = null): Promise<void> {
  steps.get(id)?.resolve(next);
  await new Promise((resolve) => setImmediate(resolve));
}

beforeEach(() => {
  begun = [];
  queue = new DeliveryQueue({
    clock: { now: () => nowMs },
    concurrency: 2,
    maxTracked: 3,
    horizonMs: 60_000,
    advance(id) {
      begun.push(id);
      const step = Promise.withResolvers<NextLook>();
      steps.set(id, step);
      return step.promise;
    },
  });
});

afterEach(async () => {
  const stopped = queue.stop();
  for (const step of steps.values()) step.resolve(null);
  await stopped;
});

describe('the queue of deliveries', () => {
  it('runs as many steps at once as its concurrency allows, in order of arrival', async () => {
    for (const id of ['a', 'b', 'c']) queue.offer(id, nowMs);
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('runs one step of a delivery at a time, even if it is offered again', async () => {
    queue.offer('a', nowMs);
    queue.offer('a', nowMs);
    expect(begun).toEqual(['a']);
    await end('a');
    queue.offer('a', nowMs);
    expect(begun).toEqual(['a', 'a']);
  });

  it('runs a delivery again when its step asks for it', async () => {
    queue.offer('a', nowMs);
    await end('a', nowMs);
    expect(begun).toEqual(['a', 'a']);
  });

  it('keeps a delivery that waits for a slot until it is resumed', async () => {
    queue.offer('a', nowMs);
    await end('a', 'waiting_for_slot');
    queue.offer('a', nowMs);
    expect(begun).toEqual(['a']);
    queue.resume(['a']);
    expect(begun).toEqual(['a', 'a']);
  });

  it('tracks others however many wait for a slot', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      queue.offer(id, nowMs);
      await end(id, 'waiting_for_slot');
    }
    expect(queue.isFull).toBe(false);
    queue.offer('other', nowMs);
    expect(begun.at(-1)).toBe('other');
  });

  it('lets what comes now pass a backlog, which gets its turn all the same', async () => {
    const wide = new DeliveryQueue({
      clock: { now: () => nowMs },
      concurrency: 1,
      maxTracked: 100,
      horizonMs: 60_000,
      async advance(id) {
        begun.push(id);
        return null;
      },
    });
    wide.offer('first', nowMs);
    for (const id of ['old 1', 'old 2', 'old 3']) wide.offer(id, nowMs, 'backlog');
    for (let count = 1; count <= 6; count += 1) wide.offer(`new ${count}`, nowMs);
    await new Promise((resolve) => setImmediate(resolve));
    await wide.stop();
    expect(begun).toEqual(['first', 'new 1', 'new 2', 'old 1', 'new 3', 'new 4', 'new 5', 'old 2', 'new 6', 'old 3']);
  });

  it('runs a delivery early where it turns out to be due earlier', () => {
    queue.offer('a', nowMs + 50_000);
    expect(begun).toEqual([]);
    queue.offer('a', nowMs);
    expect(begun).toEqual(['a']);
  });

  it('leaves to a later sweep what is due beyond its horizon or exceeds its limit', () => {
    queue.offer('far', nowMs + 60_001);
    for (const id of ['a', 'b', 'c', 'd']) queue.offer(id, nowMs + 50_000);
    expect(queue.isFull).toBe(true);
    queue.offer('d', nowMs);
    expect(begun).toEqual([]);
  });

  it('finishes its steps and starts no other when it stops', async () => {
    for (const id of ['a', 'b', 'c']) queue.offer(id, nowMs);
    const stopped = queue.stop();
    queue.offer('d', nowMs);
    await end('a', nowMs);
    await end('b');
    await stopped;
    expect(begun).toEqual(['a', 'b']);
  });
});
