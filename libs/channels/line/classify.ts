/** LINE: what answers mean. 409 says that a message with this key was taken before. */
import { classifyAs, textAt } from '../vendor-answers.js';

const dayMs = 86_400_000;

export const classifyLine = classifyAs({
  vendor: 'LINE',
  delivered: ({ body }) => body !== null && textAt(body, 'message') === null,
  codeOf: ({ status, body }) => (status < 300 ? null : textAt(body, 'message')),
  lines: [
    { status: [409], when: ({ headers }) => headers['x-line-accepted-request-id'] !== undefined, means: 'delivered' },
    {
      status: [429],
      code: /monthly limit/i,
      means: 'retry',
      afterMs: dayMs,
      because: 'the messages of this month are used up',
    },
    { status: [401, 403], means: 'gone', because: 'the token is not valid' },
  ],
});
