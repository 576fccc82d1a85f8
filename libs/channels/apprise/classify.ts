/** Apprise: what an API server's answers mean. 204 is no success: it knows nothing under the key. */
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifyApprise = classifyAs({
  vendor: 'Apprise',
  delivered: ({ status, text, body }) =>
    status === 200 &&
    (body === null ? /notification\(s\)|sent/i.test(text) && !text.includes('<') : (body['error'] ?? null) === null),
  codeOf: ({ status, body }) => (status < 300 ? null : textAt(body, 'error')),
  lines: [
    {
      status: [204],
      means: 'gone',
      because: 'the server has no services under this key, or knows none of these addresses',
    },
    { status: [401, 403, 404], means: 'gone', because: 'the server does not let this action send' },
    { status: [405, 406, 421, 431], means: 'refused' },
    // Those that have it get it again: one that failed is not told apart.
    {
      status: [424],
      means: 'retry',
      afterMs: 60_000,
      because: 'at least one service behind it failed, or none has the tag',
    },
    { status: [500], means: 'retry', afterMs: 60_000 },
  ],
});
