/** Follows the events from a checkpoint on and begins there again after a failure: used by projections, publishers and reconcilers. */
import { sleep } from '#concurrency/sleep';
import type { LeasedWork, Leases } from '#leases/leases';
import { AppError } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import type { EventBatch, EventStore } from '#event-store/event-store';
import { coalesced, noDelay, type BatchDelay } from './coalesce.js';
import { followerFails, followerGoesOn } from './failing-followers.js';

export interface FollowerOptions {
  /** Of all processes that follow under this name one does so at a time. */
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly eventStore: EventStore;
  readonly leases: Leases;
  readonly logger: Logger;
  /** The checkpoint to resume from: everything up to it was handled; null begins with the first event. */
  after(signal: AbortSignal): Promise<number | null>;
  /** Handles a batch and stores its position. What it rejects with is logged, and the events come again. */
  handle(batch: EventBatch, signal: AbortSignal): Promise<void>;
  /** Runs for as long as this process holds the lease. Never rejects. */
  alongside?(signal: AbortSignal): Promise<void>;
  /** How events are collected into batches; by default as they come where no other process is. */
  readonly delay?: BatchDelay;
  /** Called when the lease is given up, after the last batch. Never rejects. */
  ended?(): Promise<void>;
}

/** Backoff after a failure: short at first, doubling up to this. */
const retryMs = 500;
const slowestRetryMs = 30_000;

/** A server that is down comes back, so it is tried often. An unreadable event does not change by itself. */
const outageRetryMs = 2_000;
/**
 * Where stores are shared and behind a network, a follower that is kept busy by single events waits twice as long as the last one
 * took, and handles what came meanwhile as one batch. Readers of their own writes wait no longer for it than this.
 */
const maxDelayMs = 150;
const sharedDelay: BatchDelay = { ms: (tookMs) => Math.min(2 * tookMs, maxDelayMs) };

function isOutage(error: unknown): boolean {
  return error instanceof AppError && error.code === 'SERVER_ERROR';
}

/** `stop` ends it after the current batch. */
export function startFollower(options: FollowerOptions): LeasedWork {
  const { name, prefixes, eventStore, leases, logger, after, handle } = options;

  const follow = async (signal: AbortSignal): Promise<void> => {
    const delay = leases.isAlone ? (options.delay ?? noDelay) : sharedDelay;
    for await (const batch of coalesced(eventStore, { prefixes, after: await after(signal), signal }, delay)) {
      if (signal.aborted) return;
      await handle(batch, signal);
      followerGoesOn(name);
    }
  };

  const followOn = async (signal: AbortSignal): Promise<void> => {
    for (let waitMs = retryMs; !signal.aborted;) {
      const begunAt = performance.now();
      try {
        await follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        followerFails(name);
        // It had been running for a while, so this is another failure.
        if (performance.now() - begunAt > slowestRetryMs) waitMs = retryMs;
        const fields = { follower: name, error: String(error), againInMs: waitMs };
        const message = 'cannot go on; trying again from the last checkpoint';
        // Outages are already reported elsewhere (warn); an unreadable event is ours to report (error).
        if (isOutage(error)) logger.warn(fields, message);
        else logger.error(fields, message);
        await sleep(waitMs, signal);
        waitMs = Math.min(2 * waitMs, isOutage(error) ? outageRetryMs : slowestRetryMs);
      }
    }
  };

  return leases.whileHeld(name, async (signal) => {
    await Promise.all([followOn(signal), options.alongside?.(signal)]);
    // Another process may have better luck.
    followerGoesOn(name);
    await options.ended?.();
  });
}
