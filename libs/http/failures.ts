/** From whatever was thrown, by our code, Nest, Fastify or Node's HTTP parser, to the one error shape that is answered. */
import { HttpException } from '@nestjs/common';
import { AppError, reject } from '#runtime/errors';
import { internalError } from './envelope.js';

const bodyTooLarge = reject('body_too_large', 'The body is larger than 1 MiB, or than 16 KiB where no key is needed.');
const unsupportedMediaType = reject(
  'unsupported_media_type',
  'Send the body as Content-Type: application/json in UTF-8, not compressed.',
);
const malformedUrl = reject('malformed_url', 'The address of this request cannot be read.');
const malformedRequest = reject('malformed_request', 'The request cannot be read.');
const unknownExpectation = reject('unknown_expectation', 'Of Expect only 100-continue is known here.');

const failureOfCode: Readonly<Record<string, AppError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: bodyTooLarge,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: unsupportedMediaType,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: reject('malformed_request', 'The body is not as long as Content-Length says.'),
  FST_ERR_BAD_URL: malformedUrl,
  FST_ERR_MAX_PARAM_LENGTH: malformedUrl,
  HPE_HEADER_OVERFLOW: reject('headers_too_large', 'The headers of this request are larger than 16 KiB.'),
  ERR_HTTP_REQUEST_TIMEOUT: reject('request_timeout', 'The request did not arrive in time.'),
};

/** 404 for a path that does not exist; 405 where only the method is wrong. */
export function unknownPath(allowed: readonly string[]): AppError {
  if (allowed.length === 0) return new AppError('NOT_FOUND', 'unknown_path', 'There is nothing at this path.');
  return new AppError('NOT_FOUND', 'method_not_allowed', `This path takes ${allowed.join(', ')}.`);
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** The error to answer. What is not meant for the caller becomes `internal_error` with the original as its cause. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const known = failureOfCode[String(property(thrown, 'code'))];
  if (known !== undefined) return known;
  const status = thrown instanceof HttpException ? thrown.getStatus() : property(thrown, 'statusCode');
  // Nest keeps of Fastify's errors the status alone.
  if (status === 413) return bodyTooLarge;
  if (status === 415) return unsupportedMediaType;
  if (typeof status === 'number' && status >= 400 && status < 500) return malformedRequest;
  return internalError(thrown);
}

/** What is answered to bytes that are no HTTP request. */
export function clientFailure(code: string | undefined): AppError {
  return failureOfCode[code ?? ''] ?? malformedRequest;
}

export { unknownExpectation, unsupportedMediaType };
