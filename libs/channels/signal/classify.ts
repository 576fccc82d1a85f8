/** Signal: what answers of a signal-cli REST API mean. Almost everything is a 400 with a sentence. */
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifySignal = classifyAs({
  vendor: 'Signal',
  delivered: ({ status, body }) => status === 201 && textAt(body, 'timestamp') !== null,
  codeOf: ({ body }) => textAt(body, 'error'),
  lines: [
    {
      status: [429],
      when: ({ body }) => body?.['challenge_tokens'] !== undefined,
      means: 'gone',
      because: 'Signal wants a captcha to be solved for the number',
    },
    {
      status: [400],
      code: /User \+[0-9]+ is not registered/i,
      means: 'gone',
      because: 'the number that sends is not registered',
    },
    { status: [400], code: /unregistered|untrusted identity|invalid/i, means: 'refused' },
    { status: [400], code: /./, means: 'retry', afterMs: 60_000 },
    { status: [401, 403], means: 'gone' },
  ],
});
