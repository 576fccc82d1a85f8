/** Matrix: what answers mean, by `errcode` rather than by status. */
import { classifyAs, textAt, waitMs } from '../vendor-answers.js';

export const classifyMatrix = classifyAs({
  vendor: 'Matrix',
  delivered: ({ body, step }) => textAt(body, step === 'upload' ? 'content_uri' : 'event_id') !== null,
  codeOf: ({ body }) => textAt(body, 'errcode'),
  receiptOf({ body, step }) {
    const contentUri = step === 'upload' ? textAt(body, 'content_uri') : null;
    if (contentUri !== null) return { contentUri };
    const id = textAt(body, 'event_id');
    return id === null ? null : { eventId: id };
  },
  lines: [
    { code: ['M_LIMIT_EXCEEDED'], means: 'retry' },
    {
      code: ['M_UNKNOWN_TOKEN', 'M_MISSING_TOKEN', 'M_USER_DEACTIVATED'],
      means: 'gone',
      because: 'the token is not valid',
    },
    { code: ['M_FORBIDDEN'], means: 'refused', because: 'let the account join the room and write there' },
    { code: /^M_/, status: [400, 403, 404, 413], means: 'refused' },
    { status: [401], means: 'gone' },
  ],
  hintMs: ({ headers, body }) => (headers['retry-after'] === undefined ? waitMs(body?.['retry_after_ms'], 1) : null),
});
