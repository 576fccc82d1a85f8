/** Follows the events from a stored place on and, after a fault, begins again there: under views, publications and sweeps. */
import type { LeasedWork, Leases } from '#leases/leases';
import { AppError } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import type { EventBatch, EventStore } from '#event-store/event-store';
import { gathered, restNever, type Rest } from './coalesce.js';

export interface FollowerOptions {
  /** Of all processes that follow under this name one does so at a time. */
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly eventStore: EventStore;
  readonly leases: Leases;
  readonly logger: Logger;
  /** Where to go on: the position up to which everything was handled; null begins with the first event. */
  after(signal: AbortSignal): Promise<number | null>;
  /** Handles a batch and stores its position. What it rejects with is logged, and the events come again. */
  handle(batch: EventBatch, signal: AbortSignal): Promise<void>;
  /** What else is done as long as this process has the name. Never rejects. */
  beside?(signal: AbortSignal): Promise<void>;
  /** Called when the name is given up, after the last batch. Never rejects. */
  ended?(): Promise<void>;
}

/** Waits before the events are read again after a fault: soon at first, then twice as long each time, up to this. */
const retryMs = 500;
const slowestRetryMs = 30_000;

/** A part that is away comes back: who waits for it looks often. What cannot be read will not change by itself. */
const outageRetryMs = 2_000;
/**
 * Where stores are shared and behind a network, a follower that is kept busy by single events leaves them to others for twice
 * as long as it took: what comes meanwhile it handles as one batch. A reader of its own writes waits no longer for it than this.
 */
const longestRestMs = 150;
const restShared: Rest = (tookMs) => Math.min(2 * tookMs, longestRestMs);

function isOutage(error: unknown): boolean {
  return error instanceof AppError && error.code === 'SERVER_ERROR';
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end, { once: true });
  });
}

/** `stop` ends it after the batch in hand. */
export function startFollower(options: FollowerOptions): LeasedWork {
  const { name, prefixes, eventStore, leases, logger, after, handle } = options;

  const follow = async (signal: AbortSignal): Promise<void> => {
    const rest = leases.isAlone ? restNever : restShared;
    for await (const batch of gathered(eventStore, { prefixes, after: await after(signal), signal }, rest)) {
      if (signal.aborted) return;
      await handle(batch, signal);
    }
  };

  const followOn = async (signal: AbortSignal): Promise<void> => {
    for (let waitMs = retryMs; !signal.aborted;) {
      const begunAt = performance.now();
      try {
        await follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        // It had been going on for a while: this is another fault.
        if (performance.now() - begunAt > slowestRetryMs) waitMs = retryMs;
        const fields = { follower: name, error: String(error), againInMs: waitMs };
        const told = 'cannot go on; trying again from the last checkpoint';
        // A part that is away is somebody's affair already; what cannot be read is nobody's until it is told.
        if (isOutage(error)) logger.warn(fields, told);
        else logger.error(fields, told);
        await pause(waitMs, signal);
        waitMs = Math.min(2 * waitMs, isOutage(error) ? outageRetryMs : slowestRetryMs);
      }
    }
  };

  return leases.whileHeld(name, async (signal) => {
    await Promise.all([followOn(signal), options.beside?.(signal)]);
    await options.ended?.();
  });
}
