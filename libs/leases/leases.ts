/**
 * Leases: which of several processes does what. Work that one process at a time should do has a name; names are shared out
 * among the processes that live. What keeps the promises is not the lease but the revision every append expects: two that
 * both believe to hold a name cost a lost race, not a second run or message.
 */
import { hash } from 'node:crypto';

export interface LeasedWork {
  /** Ends the work, waits for it, and lets others have the name at once. */
  stop(): Promise<void>;
}

/** A set of shards, shared out one by one. */
export interface Shards {
  /** Shards held now. */
  held(): readonly number[];
  /** Whether the shard of this key is held now. */
  holds(key: string): boolean;
}

export interface Leases {
  /** Names this start of this process: what it begins says so, and others know whether its worker still lives. */
  readonly memberId: string;
  /** No other process can be at anything: nobody has to be told what this one begins. */
  readonly isAlone: boolean;
  /** False only where that process is gone, or has not been heard of for so long that it holds nothing any more. */
  isLiving(memberId: string): boolean;
  /** Runs `work` while this process holds the name, and again whenever it gets it back. The signal aborts when it is lost. */
  whileHeld(name: string, work: (signal: AbortSignal) => Promise<void>): LeasedWork;
  /** Takes part in sharing out the shards of this name from now on. */
  shards(name: string): Shards;
  /** Gives everything back. */
  close(): Promise<void>;
}

export const LEASES = Symbol('Leases');

export const shardCount = 64;

/** 0 to 63, the same in every process: the first bits of the key's SHA-256. */
export function shardOf(key: string): number {
  return Number.parseInt(hash('sha256', key, 'hex').slice(0, 2), 16) % shardCount;
}
