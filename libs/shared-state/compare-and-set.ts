/** Compare-and-set: values that processes change together, such as counters, are read, changed and written by one at a time. */
import { randomBytes } from 'node:crypto';
import { unavailable } from '#runtime/errors';
import type { Expiring, SharedState, StateCollection, Versioned } from './shared-state.js';

export interface Contended extends Expiring {
  /** The newest writes, the last one first: of two at the same version the store keeps the first, and this shows which one that was. */
  readonly writes?: readonly string[];
}

/** More attempts than processes that could meet on one value mean a fault. */
const maxAttempts = 50;
/** More processes than this do not write on top of each other between a write and the look that follows it. */
const writesKept = 24;

/**
 * The value as `change` derived it from the current one, once it is stored; `change` may be called several times. Where it
 * returns null, nothing is written and the result is null. Rejects with `read_store_unavailable`.
 *
 * Applied once, also where others write on top before this one sees its own write: theirs name it among those before them.
 */
export async function compareAndSet<V extends Contended>(
  sharedState: SharedState,
  collection: StateCollection<V>,
  key: string,
  change: (current: V | null) => Omit<V, 'id' | 'writes'> | null,
): Promise<V | null> {
  const look = async (): Promise<Versioned<V> | undefined> => (await sharedState.load(collection, [key])).get(key);
  let stored = await look();
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const changed = change(stored?.value ?? null);
    if (changed === null) return null;
    const write = randomBytes(9).toString('base64url');
    const writes = [write, ...(stored?.value?.writes ?? [])].slice(0, writesKept);
    const value = { ...changed, id: key, writes } as unknown as V;
    await sharedState.save(collection, [{ key, version: (stored?.version ?? 0) + 1, value }]);
    stored = await look();
    if (stored?.value?.writes?.includes(write) === true) return value;
  }
  throw unavailable('read_store_unavailable', 'A counter is changed by too many at once; try again.');
}
