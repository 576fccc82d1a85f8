import { beforeEach, describe, expect, it } from '@jest/globals';
import { ReceiverGate } from './receiver-gate.js';

const clock = {
  nowMs: 0,
  now(): number {
    return this.nowMs;
  },
};
let resumed: string[];
let gate: ReceiverGate;

beforeEach(() => {
  resumed = [];
  clock.nowMs = 0;
  gate = new ReceiverGate({
    limits: { concurrency: 1, quickConcurrency: 1, quickMs: 0, failures: 3, probeMs: 30_000 },
    clock,
    resume: (ids) => resumed.push(...ids),
  });
});

describe('the receiver gate', () => {
  it('resumes the delivery that waits longest once a slot is free', () => {
    expect(gate.enter('r', 'a', 100)).toBe('entered');
    expect(gate.enter('r', 'b', 100)).toBe('waits');
    expect(gate.enter('r', 'c', 100)).toBe('waits');
    gate.leave('r', { reached: true, durationMs: 0 });
    expect(resumed).toEqual(['b']);
  });

  it('gives a reserved slot to the next delivery where the step did not take it', async () => {
    gate.enter('r', 'a', 100);
    gate.enter('r', 'b', 100);
    gate.enter('r', 'c', 100);
    gate.leave('r', { reached: true, durationMs: 0 });
    await gate.withReservation('b', async () => null);
    expect(resumed).toEqual(['b', 'c']);
    await gate.withReservation('c', async () => expect(gate.enter('r', 'c', 100)).toBe('entered'));
    expect(gate.enter('r', 'd', 100)).toBe('waits');
  });

  it('resumes a delivery that expired while it waited, and no other', () => {
    gate.enter('r', 'a', 100);
    gate.enter('r', 'b', 50);
    gate.enter('r', 'c', 100);
    clock.nowMs = 50;
    gate.releaseExpired();
    expect(resumed).toEqual(['b']);
    gate.leave('r', { reached: true, durationMs: 0 });
    expect(resumed).toEqual(['b', 'c']);
  });
});

describe('a delivery that is not stored yet', () => {
  const answered = { reached: true, durationMs: 0 };
  /** A receiver that answers now and then, and has its one slot taken. */
  const busy = async (): Promise<void> => {
    for (let time = 0; time < 30; time += 1) {
      expect(await gate.enterSoon('r', `earlier ${time}`)).toBe(true);
      clock.nowMs += 10;
      gate.leave('r', answered);
    }
    expect(gate.enter('r', 'a', 1_000)).toBe('entered');
  };

  it('waits in line for a receiver that answers, and takes the slot that is kept for it', async () => {
    await busy();
    const soon = gate.enterSoon('r', 'b');
    expect(gate.enter('r', 'c', 1_000)).toBe('waits');
    gate.leave('r', answered);
    expect(await soon).toBe(true);
    expect(resumed).toEqual([]);
    gate.leave('r', answered);
    expect(resumed).toEqual(['c']);
  });

  it('does not wait for a receiver that has answered nobody for a while', async () => {
    await busy();
    clock.nowMs += 1_000;
    expect(await gate.enterSoon('r', 'b')).toBe(false);
  });

  it('waits no longer once the receiver answers nobody, and its place goes to the next one', async () => {
    await busy();
    const soon = gate.enterSoon('r', 'b');
    expect(gate.enter('r', 'c', 10_000)).toBe('waits');
    clock.nowMs += 1_000;
    expect(await soon).toBe(false);
    gate.leave('r', answered);
    expect(resumed).toEqual(['c']);
  });

  it('does not wait where so many do that its turn would be long in coming', async () => {
    await busy();
    for (let number = 0; number < 400; number += 1) gate.enter('r', `stored ${number}`, 100_000);
    expect(await gate.enterSoon('r', 'b')).toBe(false);
    gate.leave('r', answered);
    expect(resumed).toEqual(['stored 0']);
  });

  it('does not wait for a receiver of which only failures were heard for a while', async () => {
    await busy();
    clock.nowMs += 1_000;
    gate.leave('r', { reached: false, durationMs: 0 });
    expect(gate.enter('r', 'b', 10_000)).toBe('entered');
    const soon = gate.enterSoon('r', 'c');
    gate.leave('r', answered);
    expect(await soon).toBe(false);
  });

  it('waits no longer once the process stops', async () => {
    await busy();
    const soon = gate.enterSoon('r', 'b');
    gate.stop();
    expect(await soon).toBe(false);
  });
});
