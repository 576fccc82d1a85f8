/** What the API refused, or what kept it from answering, as one kind of error. */
import { wording, type ProblemDetail, type Refusal } from './wording.js';

/** `status` 0: no answer came at all. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly reason: string;
  readonly details: readonly ProblemDetail[];
  readonly retryAfterSeconds: number | null;

  constructor(problem: Refusal & { readonly status: number; readonly retryAfterSeconds?: number | null }) {
    super(problem.message);
    this.name = 'ApiProblem';
    this.status = problem.status;
    this.reason = problem.reason;
    this.details = problem.details ?? [];
    this.retryAfterSeconds = problem.retryAfterSeconds ?? null;
  }
}

export const isProblem = (error: unknown): error is ApiProblem => error instanceof ApiProblem;

/** What the sentence of a refusal does not say by itself: of one fault, it says field and rule already. */
export function furtherDetails({
  message,
  details,
}: Pick<ApiProblem, 'message' | 'details'>): readonly ProblemDetail[] {
  return details.filter((detail) => detail.line !== undefined || !message.includes(detail.message));
}

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

/** What the body of an answer says, in the words of the server. */
function refusalOf(status: number, body: unknown): Refusal {
  const error: unknown = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
  if (typeof error !== 'object' || error === null || !('message' in error)) {
    return { reason: 'unreadable', message: `The server answered ${status}.` };
  }
  const given = error as Refusal & { readonly reason?: string };
  return { reason: given.reason ?? 'unknown', message: given.message, details: given.details ?? [] };
}

/** Of an answer that is a refusal, in the reader's words as far as there are any. */
export async function problemOf(status: number, body: unknown, retryAfter: string | null): Promise<ApiProblem> {
  const { ofRefusal } = await wording();
  const retryAfterSeconds = retryAfter === null ? null : Number.parseInt(retryAfter, 10);
  return new ApiProblem({ ...ofRefusal(refusalOf(status, body)), status, retryAfterSeconds });
}
