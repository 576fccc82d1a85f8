/** Keys of owners that another process has dropped: what it follows tells each process at once, which has them in memory. */
import { sleep } from '#concurrency/sleep';
import type { EventStore } from '#event-store/event-store';
import type { Logger } from '#runtime/logger';
import { vaultStreamPrefix, type OwnerKeys } from './owner-keys.js';

const retryMs = 500;

export interface DroppedKeysDeps {
  /** With the events as they are stored. */
  readonly eventStore: Pick<EventStore, 'subscribe'>;
  readonly keys: Pick<OwnerKeys, 'notePurged'>;
  readonly logger: Logger;
}

/** `after`: where the events ended when no key was in memory yet. Resolves once it has stopped. */
export function followDroppedKeys(
  { eventStore, keys, logger }: DroppedKeysDeps,
  after: number | null,
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const { signal } = ending;

  const follow = async (): Promise<void> => {
    let seen = after;
    while (!signal.aborted) {
      try {
        for await (const { events, position } of eventStore.subscribe({
          prefixes: [vaultStreamPrefix],
          after: seen,
          signal,
        })) {
          for (const { type, stream } of events)
            if (type === 'vault.key_dropped') keys.notePurged(stream.slice(vaultStreamPrefix.length));
          seen = position;
        }
      } catch (error) {
        if (signal.aborted) return;
        logger.warn({ error: String(error) }, 'keys that are dropped elsewhere are not seen; trying again');
        await sleep(retryMs, signal);
      }
    }
  };

  const followed = follow();
  return {
    async stop() {
      ending.abort();
      await followed;
    },
  };
}
