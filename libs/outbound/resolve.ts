/** Host names to addresses: asynchronous DNS, so that a dead name server of one page cannot block Node's thread pool, which everything shares. */
import { lookup, Resolver } from 'node:dns/promises';
import { createSemaphore } from '#concurrency/semaphore';
import { codeOf } from './failures.js';

/** All addresses of a name. Rejects with a system error (`ENOTFOUND`, `ETIMEOUT` …). */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Concurrent lookups of the system's resolver: each occupies one of the few threads of Node's pool. */
const maxSystemLookups = 2;

/** DNS for names with a dot; the system's resolver (hosts file, search domains) for the others and for names that DNS does not know. */
export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  const systemLookups = createSemaphore(maxSystemLookups);
  const askSystem = (name: string): Promise<readonly string[]> =>
    systemLookups.run(async () => (await lookup(name, { all: true, order: 'verbatim' })).map((found) => found.address));

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
