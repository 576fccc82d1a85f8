import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { createProcessorMeter } from './processor-use.js';

describe('the meter of a process', () => {
  it('counts what the process ran, and never backwards', () => {
    const meter = createProcessorMeter(() => process.pid);
    const first = meter.read();
    const end = process.cpuUsage().user + 50_000;
    while (process.cpuUsage().user < end);
    const second = meter.read();
    // Where the machine keeps no such record, it says so.
    if (!existsSync('/proc/self/schedstat')) expect([first, second]).toEqual([null, null]);
    else expect((second?.ranMs ?? 0) - (first?.ranMs ?? 0)).toBeGreaterThan(40);
    expect((second?.waitedMs ?? 0) - (first?.waitedMs ?? 0)).toBeGreaterThanOrEqual(0);
  });

  it('tells nothing of a process that is not there', () => {
    expect(createProcessorMeter(() => undefined).read()).toBeNull();
    expect(createProcessorMeter(() => 2 ** 30).read()).toBeNull();
  });
});
