/** Webex: what answers mean. */
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifyWebex = classifyAs({
  vendor: 'Webex',
  delivered: ({ body }) => textAt(body, 'id') !== null,
  receiptOf({ body }) {
    const id = textAt(body, 'parentId') ?? textAt(body, 'id');
    return id === null ? null : { id };
  },
  lines: [
    { status: [401, 403, 404, 410], means: 'gone', because: 'the token is not valid, or the bot is not in the space' },
    { status: [423], means: 'retry' },
  ],
});
