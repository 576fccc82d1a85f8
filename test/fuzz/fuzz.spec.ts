/** A small, fixed share of `npm run fuzz`, for every test run. */
import { afterAll, describe, expect, it } from '@jest/globals';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { sandboxFailureReasons } from '#sandbox/sandbox';
import { differences, fuzz, jobOf } from './fuzz.ts';
import { escapes } from './script-grammar.ts';

const limits = { cpuMs: 25, memoryMb: 24, outputBytes: 16_384, stateBytes: 4_096 };

describe('generated code on generated pages', () => {
  const deaths: string[] = [];
  const sandbox = createQuickJsSandbox({ workers: 2, onDeath: (why) => deaths.push(why) });
  afterAll(() => sandbox.close());

  it('are the same for the same seed', () => {
    expect(jobOf(7, limits)).toEqual(jobOf(7, limits));
  });

  it('end with a known reason, see nothing of the host or of another run, and end the same again', async () => {
    const summary = await fuzz(sandbox, {
      seed: 42,
      runs: 100,
      isOver: () => false,
      atOnce: 4,
      limits,
      wallMs: 60_000,
      memoryMb: 1_500,
      reasons: sandboxFailureReasons,
      canary: 'canary-5f1d',
    });
    expect(summary.faults).toEqual([]);
    expect(summary.runs).toBe(100);
    expect(deaths).toEqual([]);
  }, 300_000);

  it('give the same bytes in another process and after other runs', async () => {
    const others = [1, 2].map(() => createQuickJsSandbox({ workers: 1, spareWorkers: 0 }));
    const [first, second] = others;
    if (first === undefined || second === undefined) throw new Error('two are needed');
    const patient = { ...limits, cpuMs: 500 };
    const { compared, different } = await differences([first, second], { seed: 9_000, runs: 30, limits: patient });
    await Promise.all(others.map((each) => each.close()));
    expect(different).toEqual([]);
    expect(compared).toBeGreaterThan(15);
  }, 300_000);

  it.each(escapes)('find nothing of the host by %s', async (attempt) => {
    const job = { ...jobOf(1, limits), form: 'script' as const, code: `page.report("escape", ${attempt}); true` };
    const { values } = await sandbox.evaluate({ ...job, limits: { ...limits, cpuMs: 2_000 } });
    expect(JSON.stringify(values['escape'] ?? null)).not.toMatch(
      /object|function|\b(process|require|module|global|host\w+|wasm\w*)\b/i,
    );
  });
});
