/** Splunk On-Call: what answers mean. A failure may come with 200. */
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifySplunkOncall = classifyAs({
  vendor: 'Splunk On-Call',
  delivered: ({ body }) => textAt(body, 'result') === 'success',
  codeOf: ({ body }) => textAt(body, 'result'),
  lines: [
    { status: [401, 403, 404, 410], means: 'gone', because: 'the key is not valid' },
    { status: [200, 400, 422], code: ['failure'], means: 'refused' },
  ],
});
