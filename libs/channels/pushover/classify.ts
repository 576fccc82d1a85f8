/** Pushover: what answers mean. It blocks addresses that repeat what it has refused. */
import { classifyAs, untilMs } from '../vendor-answers.js';

export const classifyPushover = classifyAs({
  vendor: 'Pushover',
  delivered: ({ body }) => body?.['status'] === 1,
  codeOf: ({ body }) => (body?.['token'] === 'invalid' ? 'token' : body?.['user'] === 'invalid' ? 'user' : null),
  lines: [
    { code: ['token', 'user'], means: 'gone', because: 'the key is not valid' },
    {
      when: ({ status, body }) =>
        status < 500 && status !== 429 && typeof body?.['status'] === 'number' && body['status'] !== 1,
      means: 'refused',
    },
    { status: [401, 403], means: 'gone' },
  ],
  // The quota of the month; asked for again it would be refused each time.
  hintMs: ({ status, headers, nowMs }) => (status === 429 ? untilMs(headers['x-limit-app-reset'], 1_000, nowMs) : null),
});
