/** The six error codes of the API, and the one error class that carries them. HTTP numbers live in `libs/http` alone. */

export const errorCodes = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'VALIDATION_ERROR',
  'RATE_LIMITED',
  'SERVER_ERROR',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** One fault of one field. `field` is a JSON path such as `actions[0].config.to`. */
export interface ErrorDetail {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  /** Where what is left of it can be read. */
  readonly href?: string;
}

/** An error that its receiver is meant to see: `reason` is a stable snake_case word, `message` says what to do next. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    reason: string,
    message: string,
    more: {
      readonly details?: readonly ErrorDetail[];
      readonly retryAfterSeconds?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'AppError';
    this.code = code;
    this.reason = reason;
    this.details = more.details;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

/** A command that the current state or its own content does not allow. */
export function reject(reason: string, message: string, details?: readonly ErrorDetail[]): AppError {
  return new AppError('VALIDATION_ERROR', reason, message, details === undefined ? {} : { details });
}

/** The same words for an unknown id, a malformed one and somebody else's, so that none can be told from another. */
export function notFound(what: string): AppError {
  return new AppError('NOT_FOUND', 'not_found', `There is no such ${what}.`);
}

/** A part that cannot answer now: the caller may try again. */
export function unavailable(reason: string, message: string, retryAfterSeconds = 1, cause?: unknown): AppError {
  return new AppError('SERVER_ERROR', reason, message, { retryAfterSeconds, cause });
}

/** Ends every switch over a union: a new member breaks the build here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
