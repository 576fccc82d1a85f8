/** Waits at the start for a part on another machine: rolling restarts bring things up in any order. */
import { patiently, startPatienceMs } from '#concurrency/patience';
import { AppError } from '#runtime/errors';
import { shownAddress } from '#runtime/engine-address';
import type { Logger } from '#runtime/logger';

/** A part that could not be reached in time: the process ends with exit code 75. */
export class ServerUnreachable extends Error {
  constructor(variable: string, url: string, waitedMs: number, cause: unknown) {
    super(
      `${variable}: ${shownAddress(url)} could not be reached within ${Math.round(waitedMs / 1_000)} s (${reasonOf(cause)}). Start it, or correct the address.`,
      { cause },
    );
    this.name = 'ServerUnreachable';
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof AppError)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

export interface Reaching {
  /** The setting that names the part. */
  readonly variable: string;
  readonly url: string;
  readonly logger: Logger;
  readonly patienceMs?: number;
}

/** What `open` opens, as soon as it can be reached. Rejects with `ServerUnreachable`, or at once with a defect. */
export async function waitForServer<Part>(reaching: Reaching, open: () => Promise<Part>): Promise<Part> {
  const { variable, url, logger, patienceMs = startPatienceMs } = reaching;
  try {
    return await patiently(open, {
      patienceMs,
      waiting: (error) =>
        logger.warn({ address: shownAddress(url), reason: reasonOf(error) }, `waiting for ${variable}`),
    });
  } catch (error) {
    if (error instanceof AppError && error.code === 'SERVER_ERROR') {
      throw new ServerUnreachable(variable, url, patienceMs, error);
    }
    throw error;
  }
}
