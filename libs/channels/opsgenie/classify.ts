/** Opsgenie: what answers mean. An alert is made after the answer. */
import { classifyAs, textAt, waitMs } from '../vendor-answers.js';

export const classifyOpsgenie = classifyAs({
  vendor: 'Opsgenie',
  delivered: ({ status, body }) => status === 202 && textAt(body, 'requestId') !== null,
  codeOf: ({ status, body }) => (status < 300 ? null : textAt(body, 'message')),
  lines: [
    {
      status: [401, 402, 403, 404, 410],
      means: 'gone',
      because: 'check the key, its region and the plan of the account',
    },
  ],
  hintMs: ({ status, headers }) => (status === 429 ? waitMs(headers['x-ratelimit-period-in-sec'], 1_000) : null),
});
