/** Shared by the parts of the contract suite: an outbound adapter, servers on loopback, and requests between them. */
import { afterEach } from '@jest/globals';
import type { Loopback } from './loopback.contract.js';
import type { Outbound, OutboundAnswer, OutboundFailure, OutboundRequest } from './outbound.js';

/** Limits that a spec lowers, so that it does not wait for the real ones. */
export interface ContractLimits {
  readonly connectMs?: number;
  readonly trickleWindowMs?: number;
  readonly connectionsPerOrigin?: number;
}

export interface ContractOptions {
  readonly egressAllow?: readonly string[];
  readonly egressProxyUrl?: string | null;
  readonly trustedHosts?: readonly string[];
  readonly refusedHosts?: readonly string[];
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  readonly limits?: ContractLimits;
}

type Extra = Partial<OutboundRequest>;

export type CreateOutbound = (options: ContractOptions) => Outbound;

export interface Kit {
  /** Closes the server after the test. */
  up(server: Promise<Loopback>): Promise<Loopback>;
  /** An adapter that may reach loopback by IPv4 and, unless `options` say otherwise, resolves every name to it. */
  door(options?: ContractOptions): Outbound;
  ask(outbound: Outbound, url: string, extra?: Extra): Promise<OutboundAnswer | OutboundFailure>;
  answerOf(outbound: Outbound, url: string, extra?: Extra): Promise<OutboundAnswer>;
  failureOf(outbound: Outbound, url: string, extra?: Extra): Promise<OutboundFailure>;
}

export function textOf(answer: OutboundAnswer): string {
  return new TextDecoder().decode(answer.body);
}

/** To be called inside `describe`. */
export function createKit(create: CreateOutbound): Kit {
  const closers: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  const kit: Kit = {
    async up(server) {
      const loopback = await server;
      closers.push(() => loopback.close());
      return loopback;
    },
    door(options = {}) {
      const outbound = create({
        egressAllow: ['127.0.0.0/8'],
        resolve: () => Promise.resolve(['127.0.0.1']),
        ...options,
      });
      closers.push(() => outbound.close());
      return outbound;
    },
    ask(outbound, url, extra = {}) {
      return outbound.request({
        method: 'GET',
        url,
        headers: {},
        timeoutMs: 20_000,
        maxBodyBytes: 1_000_000,
        onBodyLimit: 'fail',
        maxRedirects: 5,
        ...extra,
      });
    },
    async answerOf(outbound, url, extra) {
      const answer = await kit.ask(outbound, url, extra);
      if (!answer.ok) throw new Error(`${answer.reason}: ${answer.message}`);
      return answer;
    },
    async failureOf(outbound, url, extra) {
      const answer = await kit.ask(outbound, url, extra);
      if (answer.ok) throw new Error(`answered ${answer.status}`);
      return answer;
    },
  };
  return kit;
}
