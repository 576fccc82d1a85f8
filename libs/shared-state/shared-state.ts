/**
 * The shared-state port: small values that processes change together and that no event tells of, such as leases, counters
 * and idempotency records. Unlike a view, what is lost here cannot be rebuilt.
 */
import type { JsonObject } from '#runtime/json';

/** Names a set of values. Stored under this name, so a released one does not change. */
export interface StateCollection<Value extends object = JsonObject> {
  readonly name: string;
  /** The field by which values are listed; null where they are read by key alone. Values that expire: `expiresAtMs`. */
  readonly indexedBy: (keyof Value & string) | null;
  /** Never present: carries the type of the values. */
  readonly value?: Value;
}

export interface Versioned<Value extends object = JsonObject> {
  readonly key: string;
  /** A write at or below the stored version changes nothing: of two writers of one version the first wins. */
  readonly version: number;
  /** null removes the value. */
  readonly value: Value | null;
}

export interface SharedState {
  /** The values under these keys, by key. A store may remember the version of a removed value. */
  load<V extends object>(
    collection: StateCollection<V>,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, Versioned<V>>>;
  /** Every value, at most `limit`, in the order of keys. */
  list<V extends object>(collection: StateCollection<V>, limit: number): Promise<readonly V[]>;
  /** Each write stands or falls by its own version; a caller that must know which one won loads the value. */
  save<V extends object>(collection: StateCollection<V>, writes: readonly Versioned<V>[]): Promise<void>;
  /** Removes values of a collection indexed by `expiresAtMs` that have expired. One that changes meanwhile stays, and one that expires at this very millisecond may. */
  removeExpired<V extends Expiring>(collection: StateCollection<V>, nowMs: number): Promise<void>;
}

export interface Expiring {
  readonly id: string;
  readonly expiresAtMs: number;
}

export const SHARED_STATE = Symbol('SharedState');
