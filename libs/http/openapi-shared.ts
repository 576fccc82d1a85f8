/** What all operations of the OpenAPI document have in common: errors, headers, envelopes, the words of tags. */
import { errorCodes } from '#runtime/errors';
import { anyJson, type Schema } from './openapi-schemas.js';
import type { RouteDeclaration } from './route.js';

export const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });

export const errorTexts: Readonly<Record<string, string>> = {
  400: 'VALIDATION_ERROR: the request cannot be understood or breaks a rule; details name the fields.',
  401: 'UNAUTHORIZED: no API key, or one that is not valid.',
  403: 'FORBIDDEN: the key or the session is known and lacks the scope.',
  404: 'NOT_FOUND: unknown, malformed or another organisation’s id.',
  409: 'VALIDATION_ERROR: it exists already, or the Idempotency-Key was used for another request.',
  412: 'VALIDATION_ERROR, stale_revision: it was changed since the revision in If-Match.',
  413: 'VALIDATION_ERROR, body_too_large: more than 1 MiB, or than 16 KiB where no key is needed.',
  415: 'VALIDATION_ERROR, unsupported_media_type: not JSON in UTF-8.',
  429: 'RATE_LIMITED: the budget is used up.',
  500: 'SERVER_ERROR: a defect of ours.',
  503: 'SERVER_ERROR: a part is unreachable or stopping; try again.',
};

export const headerTexts: Readonly<Record<string, string>> = {
  'X-Request-Id': 'Id of this request; on everything that follows from it.',
  'X-API-Version': 'Version of this contract.',
  'X-RateLimit-Limit': 'Requests in a window of one hour.',
  'X-RateLimit-Remaining': 'Requests left in it.',
  'X-RateLimit-Reset': 'When it ends, seconds since 1970.',
  'RateLimit-Policy': 'The same in the IETF form.',
  RateLimit: 'The same in the IETF form.',
  'Retry-After': 'Seconds to wait.',
  'WWW-Authenticate': 'Bearer',
};

export function errorResponse(status: string, description: string): Schema {
  const extra: string[] = [];
  if (status === '401') extra.push('WWW-Authenticate');
  if (status === '429' || status === '503') extra.push('Retry-After');
  const names = ['X-Request-Id', 'X-API-Version', ...extra];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, headerRef(name)])),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

const integer = { type: 'integer', minimum: 0 };

export const sharedSchemas = {
  Error: {
    type: 'object',
    properties: {
      success: { const: false, description: 'It did not.' },
      error: {
        type: 'object',
        description: 'What went wrong.',
        properties: {
          code: { type: 'string', enum: [...errorCodes], description: 'For programs: one of six.' },
          message: { type: 'string', description: 'For people.' },
          reason: { type: 'string', description: 'For programs: a stable snake_case word.' },
          requestId: { type: 'string', description: 'Of the request: what the log has about it stands under this id.' },
          details: {
            type: 'array',
            description: 'The fields that are at fault.',
            items: {
              type: 'object',
              properties: {
                field: { type: 'string', description: 'Path such as actions[0].config.to.' },
                rule: { type: 'string', description: 'A stable word.' },
                message: { type: 'string', description: 'For people.' },
                line: { type: 'integer', description: 'In the text of the field, from 1.' },
                column: { type: 'integer', description: 'In the line, from 1.' },
                href: { type: 'string', description: 'Where what is left of it can be read.' },
              },
              required: ['field', 'rule', 'message'],
            },
          },
        },
        required: ['code', 'message', 'reason', 'requestId'],
      },
    },
    required: ['success', 'error'],
    example: {
      success: false,
      error: {
        code: 'VALIDATION_ERROR',
        message: 'name is required.',
        reason: 'name_required',
        requestId: 'req_01jcpgn4m8v2x3z5b7d9f1h3k5',
        details: [{ field: 'name', rule: 'required', message: 'is required' }],
      },
    },
  },
  [anyJson]: { description: 'Any JSON value.' },
  Pagination: {
    type: 'object',
    description: 'Where in a page-numbered list the answer is.',
    properties: {
      page: { ...integer, description: 'From 1.' },
      limit: { ...integer, description: 'Entries of a page.' },
      total: { ...integer, description: 'Entries in all.' },
      pages: { ...integer, description: 'Pages in all; 0 where there is no entry.' },
    },
    required: ['page', 'limit', 'total', 'pages'],
  },
  Cursor: {
    type: 'object',
    properties: { next: { type: ['string', 'null'], description: 'Give it as `after`; null: this was the end.' } },
    required: ['next'],
  },
};

export const sharedParameters = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Kept for 24 hours: the same key and body get the first answer again, with Idempotent-Replayed: true.',
    schema: { type: 'string', pattern: '^[!-~]([ -~]{0,253}[!-~])?$' },
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    description: 'The ETag the change is based on, or *.',
    schema: { type: 'string', pattern: String.raw`^(\*|"(0|[1-9][0-9]{0,14})")$` },
  },
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description: 'An id of yours for this request, up to 128 of A-Z a-z 0-9 . _ -; anything else is replaced.',
    schema: { type: 'string' },
  },
};

const tagTexts: Readonly<Record<string, string>> = {
  Notifications: 'Tasks: a page, the code that reads it, and who is told.',
  Actions: 'Who is told, and over which channel.',
  Execute: 'Runs: asked for by hand, tried without being saved, looked up, replayed.',
  Schedules: 'When tasks run.',
  Deliveries: 'Messages on their way, each try on record.',
  Contacts: 'Named receivers, which actions go by.',
  Configuration: 'All tasks as a file.',
  Keys: 'What programs sign in with.',
  Sessions: 'What people sign in with.',
  Account: 'What people do with their own account: password, second factor.',
  Members: 'Who belongs to the organisation, and what they may.',
  Organizations: 'The organisation, its budget, and for operators all of them.',
  Setup: 'The first start.',
  Stream: 'What happens, as it happens.',
  Audit: 'Every change, and proof that it is what was recorded.',
  Operations: 'The instance itself.',
  Statistics: 'Figures of runs, by hour and day.',
};

export function tagsOf(declarations: readonly RouteDeclaration[]): readonly Schema[] {
  const shown = declarations.filter(({ hidden }) => hidden !== true);
  return [...new Set(shown.map(({ tag }) => tag))].map((name) => ({ name, description: tagTexts[name] }));
}
