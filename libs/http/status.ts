/** From error codes to HTTP: the only place with these numbers (API contract, section 1). */
import type { AppError } from '#runtime/errors';

/** Reasons that have a status of their own; every other one has that of its code. */
const statusOfReason: Readonly<Record<string, number>> = {
  idempotency_conflict: 409,
  already_exists: 409,
  stale_revision: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  unknown_expectation: 417,
  method_not_allowed: 405,
  internal_error: 500,
};

const statusOfCode = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  VALIDATION_ERROR: 400,
  RATE_LIMITED: 429,
  SERVER_ERROR: 503,
} as const;

export function statusOf(error: Pick<AppError, 'code' | 'reason'>): number {
  return statusOfReason[error.reason] ?? statusOfCode[error.code];
}
