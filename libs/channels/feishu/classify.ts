/** Feishu and Lark: what answers mean. Errors come with 200 and a `code`. */
import { classifyAs } from '../vendor-answers.js';

export const classifyFeishu = classifyAs({
  vendor: 'Feishu',
  delivered: ({ body }) => body?.['code'] === 0 || body?.['StatusCode'] === 0,
  codeOf({ body }) {
    const code = body?.['code'];
    return typeof code === 'number' && code !== 0 ? code : null;
  },
  lines: [
    { code: [11232], means: 'retry' },
    { code: [9499], when: ({ text }) => /frequency limited/i.test(text), means: 'retry' },
    { code: [19001], means: 'gone', because: 'the bot was removed' },
    { code: [19022], means: 'gone', because: 'the bot takes no messages from the address of this instance' },
    { code: [19021], means: 'refused', because: 'check signingSecret, and the clock of this instance' },
    { code: [19024], means: 'refused', because: 'set keyword to the word that the bot demands' },
    { code: /./, status: [200, 400], means: 'refused' },
    { status: [401, 403, 404, 410], means: 'gone' },
  ],
  floorMs: 60_000,
});
