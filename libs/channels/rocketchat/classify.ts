/** Rocket.Chat: what answers mean. Its errors may come with 200 and `success: false`. */
import { isJsonObject } from '#runtime/json';
import { classifyAs, textAt, untilMs } from '../vendor-answers.js';

export const classifyRocketChat = classifyAs({
  vendor: 'Rocket.Chat',
  delivered: ({ body }) => body?.['success'] === true,
  codeOf: ({ body }) => textAt(body, 'errorType') ?? textAt(body, 'error'),
  receiptOf({ step, body }) {
    const message = body?.['message'];
    const id = isJsonObject(message) ? (textAt(message, 'tmid') ?? textAt(message, '_id')) : null;
    return step !== 'api' || id === null ? null : { id };
  },
  lines: [
    { code: /error-too-many-requests/, means: 'retry' },
    { code: /invalid integration id or token/i, means: 'gone', because: 'there is no such integration' },
    // Looks as if it would pass, and does not: the integration was switched off.
    { status: [503], means: 'retry', afterMs: 600_000, because: 'where this stays, the integration is switched off' },
    { status: [401, 403, 404, 410], means: 'gone' },
    { when: ({ status, body }) => status === 200 && body?.['success'] === false, means: 'refused' },
  ],
  // In milliseconds since 1970.
  hintMs: ({ status, headers, nowMs }) => (status === 429 ? untilMs(headers['x-ratelimit-reset'], 1, nowMs) : null),
});
