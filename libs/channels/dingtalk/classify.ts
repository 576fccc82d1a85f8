/** DingTalk: what answers mean. Errors come with 200 and `errcode`. */
import { classifyAs } from '../vendor-answers.js';

const blockedMs = 600_000;
const dayMs = 86_400_000;

export const classifyDingTalk = classifyAs({
  vendor: 'DingTalk',
  delivered: ({ body }) => body?.['errcode'] === 0,
  codeOf({ body }) {
    const code = body?.['errcode'];
    return typeof code === 'number' && code !== 0 ? code : null;
  },
  lines: [
    // More than twenty a minute block the robot for ten.
    { code: [130101, 410100], means: 'retry', afterMs: blockedMs },
    { code: [90030], means: 'retry', afterMs: dayMs },
    { code: [-1], means: 'retry' },
    { code: [300001, 300005, 400101, 400102, 400013], means: 'gone', because: 'the robot or its group is gone' },
    {
      code: [310000],
      when: ({ text }) => /whitelist/i.test(text),
      means: 'gone',
      because: 'the robot takes no messages from the address of this instance',
    },
    { code: [310000], means: 'refused', because: 'check signingSecret, keyword and the clock of this instance' },
    { code: /./, status: [200, 400], means: 'refused' },
    { status: [401, 403, 404, 410], means: 'gone' },
  ],
  floorMs: blockedMs,
});
