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
