/** Leases of a process that no other can stand beside: it holds everything, always. */
import { shardCount, type Leases } from './leases.js';

const everyShard = Array.from({ length: shardCount }, (_, shard) => shard);

export function createSoleLeases(): Leases {
  const ending = new AbortController();
  return {
    whileHeld(_name, work) {
      const own = new AbortController();
      const running = work(AbortSignal.any([own.signal, ending.signal]));
      return {
        async stop() {
          own.abort();
          await running;
        },
      };
    },
    shards: () => ({ held: () => everyShard, holds: () => true }),
    async close() {
      ending.abort();
    },
  };
}
