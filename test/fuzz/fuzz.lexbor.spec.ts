/** Needs what `npm run build:parser` makes; fails where it is not there. */
import { expect, it } from '@jest/globals';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { differences } from './fuzz.ts';

it('generated code gives the same bytes with either page parser', async () => {
  const [parse5, lexbor] = [
    createQuickJsSandbox({ workers: 1, spareWorkers: 0, pageParser: 'parse5' }),
    createQuickJsSandbox({ workers: 1, spareWorkers: 0, pageParser: 'lexbor' }),
  ];
  const limits = { cpuMs: 500, memoryMb: 24, outputBytes: 16_384, stateBytes: 4_096 };
  const { compared, different } = await differences([parse5, lexbor], { seed: 70_000, runs: 50, limits });
  await Promise.all([parse5.close(), lexbor.close()]);
  expect(different).toEqual([]);
  expect(compared).toBeGreaterThan(25);
}, 300_000);
