/** When keys were used last: told by each gateway now and then, so that no request is a write. */
import { toTimestamp, type Clock } from '#runtime/clock';
import type { SharedState, StateCollection } from '#shared-state/shared-state';

interface LastUse {
  readonly id: string;
  readonly atMs: number;
}

export const lastUsesCollection: StateCollection<LastUse> = { name: 'key_uses', indexedBy: null };

export interface LastUses {
  used(keyId: string): void;
  /** Of those among the keys that were ever used. What another gateway has not written yet is missing. */
  of(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Writes what is not written yet. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export const LAST_USES = Symbol('LastUses');

const writtenEveryMs = 30_000;
const writtenAtOnce = 500;

export function createLastUses(sharedState: SharedState, clock: Clock, everyMs = writtenEveryMs): LastUses {
  let pending = new Map<string, number>();

  const write = async (uses: ReadonlyMap<string, number>): Promise<void> => {
    const ids = [...uses.keys()];
    for (let from = 0; from < ids.length; from += writtenAtOnce) {
      const some = ids.slice(from, from + writtenAtOnce);
      const stored = await sharedState.load(lastUsesCollection, some);
      const writes = some.flatMap((id) => {
        const atMs = uses.get(id) ?? 0;
        const known = stored.get(id);
        if ((known?.value?.atMs ?? 0) >= atMs) return [];
        return [{ key: id, version: (known?.version ?? 0) + 1, value: { id, atMs } }];
      });
      if (writes.length > 0) await sharedState.save(lastUsesCollection, writes);
    }
  };

  const flush = async (): Promise<void> => {
    const uses = pending;
    pending = new Map();
    try {
      await write(uses);
    } catch (error) {
      // Told again with the next, unless a later use is.
      for (const [id, atMs] of uses) if (!pending.has(id)) pending.set(id, atMs);
      throw error;
    }
  };

  // The store is away: the next time tells.
  const timer = setInterval(() => void flush().catch(() => undefined), everyMs).unref();

  return {
    used: (keyId) => void pending.set(keyId, clock.now()),

    async of(keyIds) {
      const stored = await sharedState.load(lastUsesCollection, keyIds);
      return new Map(
        keyIds.flatMap((id) => {
          const atMs = Math.max(stored.get(id)?.value?.atMs ?? 0, pending.get(id) ?? 0);
          return atMs === 0 ? [] : [[id, toTimestamp(atMs)] as const];
        }),
      );
    },

    flush,

    async close() {
      clearInterval(timer);
      await flush().catch(() => undefined);
    },
  };
}
