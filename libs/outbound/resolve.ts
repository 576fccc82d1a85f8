/** Host names to addresses: asynchronous DNS, so that a dead name server of one page cannot block the threads that all share. */
import { lookup, Resolver } from 'node:dns/promises';
import { codeOf } from './failures.js';

/** All addresses of a name. Rejects with a system error (`ENOTFOUND`, `ETIMEOUT` …). */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** At most this many lookups of the system's own resolver at once: each holds one of the process's few threads. */
const systemLookupsAtOnce = 2;

/** DNS for what has a dot; the system's resolver (hosts file, search domains) for the rest and for what DNS does not know. */
export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  const waiting: (() => void)[] = [];
  let running = 0;

  async function askSystem(name: string): Promise<readonly string[]> {
    if (running >= systemLookupsAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return (await lookup(name, { all: true, order: 'verbatim' })).map((found) => found.address);
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  }

  return async (name) => {
    if (!name.includes('.')) return askSystem(name);
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [
      ...(four.status === 'fulfilled' ? four.value : []),
      ...(six.status === 'fulfilled' ? six.value : []),
    ];
    if (found.length > 0) return found;
    const reason: unknown = four.status === 'rejected' ? four.reason : six.status === 'rejected' ? six.reason : null;
    if (['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'ENONAME'].includes(codeOf(reason))) return askSystem(name);
    throw reason;
  };
}
