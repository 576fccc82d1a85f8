/** Home Assistant: what answers mean. A webhook is always 200, also one that nobody listens to. */
import { classifyAs } from '../vendor-answers.js';

export const classifyHomeassistant = classifyAs({
  vendor: 'Home Assistant',
  // A service answers with the states that it changed.
  delivered: ({ step, text }) => (step === 'webhook' ? !text.includes('<') : /^\s*\[/.test(text)),
  lines: [
    { status: [401], means: 'gone', because: 'the token is not valid' },
    { status: [403], means: 'gone', because: 'the instance has banned the address of this one' },
    { status: [400], means: 'refused', because: 'there is no such service, or it takes other data' },
    { status: [405], means: 'refused' },
  ],
});
