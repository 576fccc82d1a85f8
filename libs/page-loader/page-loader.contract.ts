/** What every page loader promises, whether it speaks HTTP itself or drives a browser. */
import { describe } from '@jest/globals';
import { describeAnswers } from './answers.contract.js';
import { describeFailures } from './failures.contract.js';
import type { CreateLoader } from './kit.contract.js';
import type { PageRequest } from './page-loader.js';
import { describeRetries } from './retries.contract.js';

/** Runs the suite; `mode` is what its requests ask for. */
export function describePageLoader(name: string, mode: PageRequest['mode'], create: CreateLoader): void {
  describe(`${name}: a page loader`, () => {
    describeAnswers(mode, create);
    describeFailures(mode, create);
    describeRetries(mode, create);
  });
}
