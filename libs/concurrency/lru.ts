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

/** Holds at most `maxEntries`. */
export function createLru<Key extends {}, Value extends {}>(maxEntries: number): Lru<Key, Value> {
  const cache = new LRUCache<Key, Value>({ max: maxEntries });
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
