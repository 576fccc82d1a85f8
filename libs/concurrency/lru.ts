/** A map of bounded size. lru-cache does the work; this is its one import, so that every bound is written the same way. */
import { LRUCache } from 'lru-cache';

export interface Lru<Key, Value> {
  /** Marks the entry as used. */
  get(key: Key): Value | undefined;
  /** Does not mark the entry as used. */
  has(key: Key): boolean;
  /** Where the map is full, the entry that was used longest ago goes. */
  set(key: Key, value: Value): void;
  delete(key: Key): boolean;
  clear(): void;
  readonly size: number;
}

/** What entries weigh together is bounded too; one that weighs more than all may is not kept. */
export interface LruWeights<Value> {
  readonly maxWeight: number;
  /** From 1 on. */
  weightOf(value: Value): number;
}

/** Holds at most `maxEntries`. */
export function createLru<Key extends {}, Value extends {}>(
  maxEntries: number,
  weights?: LruWeights<Value>,
): Lru<Key, Value> {
  const cache = new LRUCache<Key, Value>({
    max: maxEntries,
    ...(weights === undefined
      ? {}
      : { maxSize: weights.maxWeight, sizeCalculation: (value: Value) => weights.weightOf(value) }),
  });
  return {
    get: (key) => cache.get(key),
    has: (key) => cache.has(key),
    set: (key, value) => void cache.set(key, value),
    delete: (key) => cache.delete(key),
    clear: () => cache.clear(),
    get size() {
      return cache.size;
    },
  };
}
