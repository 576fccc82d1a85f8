/** What the API refused, or what kept it from answering, as one kind of error. */

export interface ProblemDetail {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** `status` 0: no answer came at all. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly reason: string;
  readonly details: readonly ProblemDetail[];
  readonly retryAfterSeconds: number | null;

  constructor(problem: {
    readonly status: number;
    readonly reason: string;
    readonly message: string;
    readonly details?: readonly ProblemDetail[];
    readonly retryAfterSeconds?: number | null;
  }) {
    super(problem.message);
    this.name = 'ApiProblem';
    this.status = problem.status;
    this.reason = problem.reason;
    this.details = problem.details ?? [];
    this.retryAfterSeconds = problem.retryAfterSeconds ?? null;
  }
}

export const isProblem = (error: unknown): error is ApiProblem => error instanceof ApiProblem;

/** The message about one field of what was sent, as `actions[0].config.to`, or of a field inside it. */
export function faultOf(error: unknown, field: string): string | null {
  if (!isProblem(error)) return null;
  const exact = error.details.find((detail) => detail.field === field);
  if (exact !== undefined) return exact.message;
  const inside = error.details.find(
    (detail) => detail.field.startsWith(`${field}.`) || detail.field.startsWith(`${field}[`),
  );
  return inside === undefined ? null : `${inside.field}: ${inside.message}`;
}

/** A body as the API writes errors, or null for anything else. */
export function problemOf(status: number, body: unknown, retryAfter: string | null): ApiProblem {
  const error: unknown = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
  const retryAfterSeconds = retryAfter === null ? null : Number.parseInt(retryAfter, 10);
  if (typeof error !== 'object' || error === null || !('message' in error)) {
    return new ApiProblem({
      status,
      reason: 'unreadable',
      message: `The server answered ${status}.`,
      retryAfterSeconds,
    });
  }
  const given = error as {
    readonly message: string;
    readonly reason?: string;
    readonly details?: readonly ProblemDetail[];
  };
  return new ApiProblem({
    status,
    reason: given.reason ?? 'unknown',
    message: given.message,
    details: given.details ?? [],
    retryAfterSeconds,
  });
}
