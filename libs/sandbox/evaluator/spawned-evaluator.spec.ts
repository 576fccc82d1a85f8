import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { evaluatorFiles, usualSettings } from './evaluator-place.js';
import type { EvaluatorChannel } from './evaluator-channel.js';
import { sessionNiceness, spawnEvaluator } from './spawned-evaluator.js';

let evaluator: EvaluatorChannel;

beforeEach(() => {
  const { places, ...paths } = evaluatorFiles('parse5');
  evaluator = spawnEvaluator(places, { ...usualSettings(paths), workers: 1, spareWorkers: 0 });
});
afterEach(async () => {
  evaluator.kill();
  await evaluator.ended;
});

describe('an evaluator process', () => {
  it('weighs less than the product where the kernel weighs sessions', () => {
    const file = `/proc/${evaluator.pid}/autogroup`;
    const own = '/proc/self/autogroup';
    const weights = existsSync(own)
      ? [own, file].map((each) => Number(readFileSync(each, 'utf8').trim().split(' ').at(-1)))
      : [0, sessionNiceness];
    expect(weights[1]).toBe(sessionNiceness);
    expect(weights[0]).toBeLessThan(sessionNiceness);
  });
});
