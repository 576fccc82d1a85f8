/** The shapes that every answer has: success, page-numbered list, cursor list, error. */
import type { Readable } from 'node:stream';
import { AppError, type ErrorDetail } from '#runtime/errors';
import { statusOf } from './status.js';

/** What a handler gives back; the envelope is already around `body`. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** An object becomes JSON; a string, and a stream where one is declared, is sent as it is, with the content type of `headers`. */
  readonly body: object | string | Readable;
  /** The task that it tells of, where neither the path nor the body names it: what is kept of it goes with the task. */
  readonly taskId?: string;
}

interface AnswerOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly taskId?: string;
}

/** `{ success: true, data }` */
export function data(value: unknown, { status = 200, headers = {}, ...about }: AnswerOptions = {}): Answer {
  return { status, headers, body: { success: true, data: value }, ...about };
}

/** Exactly `{ data, pagination }`: the specification shows lists without `success`. */
export function list(
  items: readonly unknown[],
  { page, limit }: { readonly page: number; readonly limit: number },
  total: number,
): Answer {
  return {
    status: 200,
    headers: {},
    body: { data: items, pagination: { page, limit, total, pages: Math.ceil(total / limit) } },
  };
}

/** Exactly `{ data, cursor }`, for long lists that only grow. */
export function cursorList(items: readonly unknown[], next: string | null): Answer {
  return { status: 200, headers: {}, body: { data: items, cursor: { next } } };
}

/** Something that is not JSON: a page, a script, metrics. */
export function text(body: string, contentType: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 200, headers: { 'content-type': contentType, ...headers }, body };
}

export interface ErrorBody {
  readonly success: false;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly reason: string;
    readonly requestId: string;
    readonly details?: readonly ErrorDetail[];
  };
}

/** A decider knows of revisions, and nothing of the header that one comes in. */
function detailsOf({ reason, message, details }: AppError): readonly ErrorDetail[] | undefined {
  if (reason !== 'stale_revision' || details !== undefined) return details;
  return [{ field: 'If-Match', rule: 'stale', message }];
}

/** An error as it is answered. Nothing of its cause or stack gets out. */
export function errorAnswer(error: AppError, requestId: string): Answer & { readonly body: ErrorBody } {
  const status = statusOf(error);
  const headers: Record<string, string> = {};
  const details = detailsOf(error);
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (status === 429 || status === 503) headers['retry-after'] = String(Math.max(1, error.retryAfterSeconds ?? 1));
  return {
    status,
    headers,
    body: {
      success: false,
      error: {
        code: error.code,
        message: error.message,
        reason: error.reason,
        requestId,
        ...(details === undefined ? {} : { details }),
      },
    },
  };
}

/** What is answered for a defect of ours: a sentence without anything from inside. */
export function internalError(cause: unknown): AppError {
  return new AppError(
    'SERVER_ERROR',
    'internal_error',
    'Something went wrong on our side. It is in the log under the request id.',
    { cause },
  );
}
