/** WhatsApp: what answers of the Cloud API mean, by the code of the error rather than by the status. */
import { isJsonObject } from '#runtime/json';
import { classifyAs, textAt } from '../vendor-answers.js';

const dayMs = 86_400_000;

export const classifyWhatsapp = classifyAs({
  vendor: 'WhatsApp',
  delivered: ({ body, step }) =>
    step === 'media' ? textAt(body, 'id') !== null : Array.isArray(body?.['messages']) && body['messages'].length > 0,
  receiptOf: ({ body, step }) => (step === 'media' ? { mediaId: textAt(body, 'id') } : null),
  codeOf({ body }) {
    const error = body?.['error'];
    const code = isJsonObject(error) ? error['code'] : null;
    return typeof code === 'number' ? code : null;
  },
  lines: [
    { code: [1, 2, 4, 80007, 130429, 131000, 131016, 131056, 131057, 133016], means: 'retry' },
    {
      code: [131048, 131049],
      means: 'retry',
      afterMs: dayMs,
      because: 'WhatsApp holds back more messages to this person',
    },
    {
      code: /^(?:0|3|10|190|2[0-9]{2}|33|368|131005|131031|131042|132015|132016|133010)$/,
      means: 'gone',
      because: 'token, account, payment or template is not good any more',
    },
    { code: [131047], means: 'refused', because: 'outside of 24 hours only approved templates are sent' },
    { code: /./, means: 'refused' },
    { status: [401, 403], means: 'gone' },
  ],
});
