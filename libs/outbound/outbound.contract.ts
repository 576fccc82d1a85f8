/** The promises of the outbound port, for every adapter. */
import { describe } from '@jest/globals';
import { describeBodies } from './bodies.contract.js';
import { describeExchanges } from './exchange.contract.js';
import type { CreateOutbound } from './kit.contract.js';
import { describeProxies } from './proxies.contract.js';
import { describeReach } from './reach.contract.js';

/** Runs the suite against the adapter that `create` makes. */
export function describeOutbound(name: string, create: CreateOutbound): void {
  describe(`the outbound port over ${name}`, () => {
    describeExchanges(create);
    describeBodies(create);
    describeReach(create);
    describeProxies(create);
  });
}
