/** Zulip: what answers mean, by `code`: the sentence is in the language of the bot's owner. */
import type { JsonObject } from '#runtime/json';
import { classifyAs, textAt, untilMs, waitMs } from '../vendor-answers.js';

/** Of a file on the same server; older servers call it `uri`. What is none could be markup. */
function uploadedPath(body: JsonObject | null): string | null {
  const path = textAt(body, 'url') ?? textAt(body, 'uri');
  return path !== null && /^\/user_uploads\/[A-Za-z0-9_\-./%]{1,500}$/.test(path) ? path : null;
}

export const classifyZulip = classifyAs({
  vendor: 'Zulip',
  delivered: ({ body, step }) =>
    textAt(body, 'result') === 'success' && (step !== 'upload' || uploadedPath(body) !== null),
  receiptOf: ({ body, step }) => (step === 'upload' ? { path: uploadedPath(body) } : null),
  codeOf: ({ body }) => textAt(body, 'code'),
  lines: [
    { code: ['RATE_LIMIT_HIT'], means: 'retry' },
    {
      code: ['UNAUTHORIZED', 'INVALID_API_KEY', 'USER_DEACTIVATED', 'REALM_DEACTIVATED'],
      means: 'gone',
      because: 'the key or the bot is not valid any more',
    },
    {
      code: ['STREAM_DOES_NOT_EXIST'],
      means: 'refused',
      because: 'there is no such channel, or the bot may not see it',
    },
    {
      when: ({ status, body }) => status < 500 && textAt(body, 'result') === 'error',
      status: [200, 400, 403, 404],
      means: 'refused',
    },
    { status: [401, 403], means: 'gone' },
  ],
  hintMs: ({ status, headers, body, nowMs }) =>
    waitMs(body?.['retry-after'], 1_000) ??
    (status === 429 ? untilMs(headers['x-ratelimit-reset'], 1_000, nowMs) : null),
});
