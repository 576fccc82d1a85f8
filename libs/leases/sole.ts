/** Leases of a process that no other can stand beside: it holds everything, always, and nobody else lives. */
import { randomUUID } from 'node:crypto';
import { shardCount, type Leases } from './leases.js';

const everyShard = Array.from({ length: shardCount }, (_, shard) => shard);

export function createSoleLeases(): Leases {
  const ending = new AbortController();
  const memberId = randomUUID();
  return {
    memberId,
    isAlone: true,
    isLiving: (id) => id === memberId,
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
