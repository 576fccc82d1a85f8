/** How many bytes of answers an organisation may have kept for its repeats: a client with a key per request must not fill the disk. */
import { createLru } from '#concurrency/lru';
import type { Clock } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import { compareAndSet, type Contended } from '#shared-state/compare-and-set';
import type { SharedState, StateCollection } from '#shared-state/shared-state';

export interface AnswerBudget {
  /** Resolves where there is room for one more answer, whatever its size. Rejects with `idempotency_storage_full`. */
  admit(organizationId: string): Promise<void>;
  spend(organizationId: string, bytes: number): void;
}

interface Window extends Contended {
  readonly startedAtMs: number;
  /** What processes have reserved, spent or not. */
  readonly used: number;
}

export const answerBudgetCollection: StateCollection<Window> = { name: 'idempotency_bytes', indexedBy: 'expiresAtMs' };

interface Reserve {
  readonly endsAtMs: number;
  left: number;
}

export interface AnswerLimits {
  /** Of one organisation in one window; as much of the window before may be kept besides. */
  readonly bytes: number;
  readonly windowMs: number;
  /** What a process reserves at once: more than any answer. */
  readonly reserveBytes: number;
}

const mebibyte = 1_048_576;

/** Some half a million usual answers a day. */
export const defaultAnswerLimits: AnswerLimits = {
  bytes: 2_048 * mebibyte,
  windowMs: 24 * 3_600_000,
  reserveBytes: 8 * mebibyte,
};
/** The largest request, sealed and written in base64, with what surrounds it. */
const largestAnswer = 2 * mebibyte;

const maxOrganizations = 10_000;

export function createAnswerBudget(
  sharedState: SharedState,
  clock: Clock,
  { bytes, windowMs, reserveBytes }: AnswerLimits = defaultAnswerLimits,
): AnswerBudget {
  const reserves = createLru<string, Reserve>(maxOrganizations);

  const full = (endsAtMs: number): AppError =>
    new AppError(
      'RATE_LIMITED',
      'idempotency_storage_full',
      'So many answers are kept for Idempotency-Keys that no more fit; send the request without one, or later.',
      { retryAfterSeconds: Math.ceil((endsAtMs - clock.now()) / 1_000) },
    );

  return {
    async admit(organizationId) {
      const known = reserves.get(organizationId);
      const nowMs = clock.now();
      if (known !== undefined && known.endsAtMs > nowMs && known.left >= largestAnswer) return;
      let fullUntilMs = nowMs;
      const window = await compareAndSet(sharedState, answerBudgetCollection, organizationId, (stored) => {
        const current = stored !== null && stored.expiresAtMs > nowMs ? stored : null;
        const used = (current?.used ?? 0) + reserveBytes;
        const startedAtMs = current?.startedAtMs ?? nowMs;
        fullUntilMs = startedAtMs + windowMs;
        return used > bytes ? null : { startedAtMs, used, expiresAtMs: fullUntilMs };
      });
      if (window === null) throw full(fullUntilMs);
      const kept = known !== undefined && known.endsAtMs === window.expiresAtMs ? known.left : 0;
      reserves.set(organizationId, { endsAtMs: window.expiresAtMs, left: kept + reserveBytes });
    },
    spend(organizationId, spent) {
      const known = reserves.get(organizationId);
      if (known !== undefined) known.left -= spent;
    },
  };
}
