/** Compare-and-set: values that processes change together, such as counters, are read, changed and written by one at a time. */
import { randomUUID } from 'node:crypto';
import { unavailable } from '#runtime/errors';
import type { Expiring, SharedState, StateCollection } from './shared-state.js';

export interface Contended extends Expiring {
  /** Identifies the write: of two at the same version the store keeps the first, and this shows which one that was. */
  readonly write: string;
}

/** More attempts than processes that could meet on one value mean a fault. */
const maxAttempts = 50;

/**
 * The value as `change` derived it from the current one, once it is stored; `change` may be called several times. Where it
 * returns null, nothing is written and the result is null. Rejects with `read_store_unavailable`.
 *
 * Never lost, but applied twice where another process writes on top before this one sees its own write: for counts that may
 * err on the high side.
 */
export async function compareAndSet<V extends Contended>(
  sharedState: SharedState,
  collection: StateCollection<V>,
  key: string,
  change: (current: V | null) => Omit<V, 'id' | 'write'> | null,
): Promise<V | null> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const stored = (await sharedState.load(collection, [key])).get(key);
    const changed = change(stored?.value ?? null);
    if (changed === null) return null;
    const value = { ...changed, id: key, write: randomUUID() } as V;
    await sharedState.save(collection, [{ key, version: (stored?.version ?? 0) + 1, value }]);
    const kept = (await sharedState.load(collection, [key])).get(key)?.value;
    if (kept?.write === value.write) return kept;
  }
  throw unavailable('read_store_unavailable', 'A counter is changed by too many at once; try again.');
}
