/** Pushbullet: what answers mean. */
import { isJsonObject } from '#runtime/json';
import { classifyAs, textAt, untilMs } from '../vendor-answers.js';

export const classifyPushbullet = classifyAs({
  vendor: 'Pushbullet',
  delivered({ body, step, status }) {
    if (step === 'place') return textAt(body, 'upload_url') !== null;
    return step === 'upload' ? status === 204 : textAt(body, 'iden') !== null;
  },
  receiptOf({ body, step }) {
    if (step === 'upload') return { uploaded: true };
    return step === 'place' ? { uploadUrl: textAt(body, 'upload_url'), fileUrl: textAt(body, 'file_url') } : null;
  },
  codeOf({ body }) {
    const error = body?.['error'];
    return isJsonObject(error) ? (textAt(error, 'code') ?? textAt(error, 'type')) : null;
  },
  lines: [
    { code: ['pushbullet_pro_required'], means: 'refused', because: 'the pushes of this month are used up' },
    { status: [401, 403], means: 'gone', because: 'the token is not valid' },
  ],
  hintMs: ({ status, headers, nowMs }) => (status === 429 ? untilMs(headers['x-ratelimit-reset'], 1_000, nowMs) : null),
});
