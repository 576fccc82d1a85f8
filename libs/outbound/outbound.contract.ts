/** What every outbound door promises, whatever HTTP client is behind it. */
import { describe } from '@jest/globals';
import { describeBodies } from './bodies.contract.js';
import { describeExchanges } from './exchange.contract.js';
import type { CreateOutbound } from './kit.contract.js';
import { describeProxies } from './proxies.contract.js';
import { describeReach } from './reach.contract.js';

/** Runs the suite against doors that `create` makes. */
export function describeOutbound(name: string, create: CreateOutbound): void {
  describe(`${name}: an outbound door`, () => {
    describeExchanges(create);
    describeBodies(create);
    describeReach(create);
    describeProxies(create);
  });
}
