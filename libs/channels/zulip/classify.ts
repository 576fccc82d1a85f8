/** Zulip: what answers mean, by `code`: the sentence is in the language of the bot's owner. */
import { classifyAs, textAt, untilMs, waitMs } from '../vendor-answers.js';

export const classifyZulip = classifyAs({
  vendor: 'Zulip',
  delivered: ({ body }) => textAt(body, 'result') === 'success',
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
