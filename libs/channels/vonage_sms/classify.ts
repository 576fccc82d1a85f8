/** SMS by Vonage: what answers mean. They are 200 even where nothing was sent; each part of a message has its status. */
import { isJsonObject, type JsonObject } from '#runtime/json';
import { classifyAs, textAt, waitMs, type VendorAnswer } from '../vendor-answers.js';

function partsOf({ body }: VendorAnswer): readonly JsonObject[] {
  const parts = body?.['messages'];
  return Array.isArray(parts) ? parts.filter((part) => isJsonObject(part)) : [];
}

export const classifyVonage = classifyAs({
  vendor: 'Vonage',
  // Where one part went out the message is not sent again: each costs.
  delivered: (answer) => partsOf(answer).some((part) => part['status'] === '0'),
  codeOf(answer) {
    const parts = partsOf(answer);
    return parts.some((part) => part['status'] === '0') ? null : textAt(parts[0], 'status');
  },
  lines: [
    { code: ['1', '5', '10', '13'], means: 'retry' },
    {
      code: ['4', '8', '9', '11', '14', '29', '32'],
      means: 'gone',
      because: 'the account does not let this action send, or has no credit',
    },
    { code: /^[0-9]+$/, means: 'refused' },
    { status: [401, 403], means: 'gone' },
  ],
  // "please wait [ 250 ] and retry", in milliseconds.
  hintMs(answer) {
    const text = textAt(partsOf(answer)[0], 'error-text') ?? '';
    const wait = waitMs(/wait \[\s*([0-9]+)\s*\]/i.exec(text)?.[1], 1);
    return wait === null ? null : Math.max(wait, 1_000);
  },
  unansweredMs: 600_000,
});
