/** PagerDuty: what answers of the Events API mean. */
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifyPagerDuty = classifyAs({
  vendor: 'PagerDuty',
  delivered: ({ body }) => textAt(body, 'status') === 'success',
  codeOf: ({ body }) => textAt(body, 'status'),
  lines: [
    {
      status: [400],
      when: ({ text }) => /routing.?key/i.test(text),
      means: 'gone',
      because: 'the integration key is not valid',
    },
    { status: [401, 403], means: 'gone' },
  ],
});
