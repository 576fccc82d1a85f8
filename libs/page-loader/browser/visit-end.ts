/** How a visit of a page ends before its time, and within which bounds it does not. */
import type { LoadFailureReason } from '../page-loader.js';

export interface VisitBounds {
  readonly mostRequests: number;
  readonly mostBytes: number;
  readonly mostMemoryBytes: number;
  readonly mostPopups: number;
}

export const usualBounds: VisitBounds = {
  mostRequests: 1_000,
  mostBytes: 100 * 1024 * 1024,
  mostMemoryBytes: 768 * 1024 * 1024,
  mostPopups: 50,
};

export class VisitFailed extends Error {
  readonly reason: LoadFailureReason;
  readonly status: number | null;
  readonly mayRepeat: boolean;

  constructor(reason: LoadFailureReason, message: string, status: number | null = null, mayRepeat = false) {
    super(message);
    this.reason = reason;
    this.status = status;
    this.mayRepeat = mayRepeat;
  }
}

/** The process is gone or does not answer: another one may do better. */
export class BrowserGone extends Error {}

/** Rejects once the visit must end, with why. */
export interface Ending {
  readonly signal: Promise<never>;
  fail(error: Error): void;
}

export function createEnding(): Ending {
  const { promise, reject } = Promise.withResolvers<never>();
  // A visit that races it sees the rejection.
  promise.catch(() => undefined);
  return { signal: promise, fail: reject };
}
