/** Something that is looked through again and again, by one process at a time. */
import { sleep } from '#concurrency/sleep';
import type { Logger } from '#runtime/logger';
import type { LeasedWork, Leases } from './leases.js';

export interface SweepOptions {
  readonly leases: Leases;
  /** Of all processes that sweep under this name one does so at a time. */
  readonly name: string;
  /** From the end of one sweep, and from the start where nothing else is said, to the next. */
  readonly everyMs: number;
  /** From the start to the first one, where that is sooner. */
  readonly firstAfterMs?: number;
  readonly logger: Logger;
  /** What it rejects with is logged; the next sweep tries again. */
  sweep(): Promise<void>;
}

/** `stop` lets a sweep that has begun end. */
export function startSweep({ leases, name, everyMs, firstAfterMs, logger, sweep }: SweepOptions): LeasedWork {
  return leases.whileHeld(name, async (signal) => {
    for (let waitMs = firstAfterMs ?? everyMs; ; waitMs = everyMs) {
      await sleep(waitMs, signal, { ref: false });
      if (signal.aborted) return;
      await sweep().catch((error: unknown) => {
        logger.error({ sweep: name, error: String(error) }, 'a sweep failed; the next one tries again');
      });
    }
  });
}
