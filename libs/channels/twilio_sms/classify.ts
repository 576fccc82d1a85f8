/** SMS by Twilio: what answers mean, by the codes of its errors. Nothing tells a repeat, and each costs. */
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifyTwilio = classifyAs({
  vendor: 'Twilio',
  delivered: ({ body }) => textAt(body, 'sid') !== null,
  codeOf({ status, body }) {
    const code = body?.['code'];
    return status >= 400 && typeof code === 'number' ? code : null;
  },
  lines: [
    { code: [21610], means: 'gone', because: 'the receiver has opted out (STOP)' },
    { code: [21611, 20429], means: 'retry' },
    { code: [20003, 20005, 20404], means: 'gone', because: 'the account does not let this action send' },
    { code: /^21/, means: 'refused' },
    { status: [401, 403, 404, 410], means: 'gone' },
  ],
  unansweredMs: 600_000,
});
