/** Google Chat: what answers mean. A message that is there comes back with its name. */
import { isJsonObject } from '#runtime/json';
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifyGoogleChat = classifyAs({
  vendor: 'Google Chat',
  delivered: ({ body }) => textAt(body, 'name')?.startsWith('spaces/') === true,
  codeOf({ body }) {
    const error = body?.['error'];
    return isJsonObject(error) ? textAt(error, 'status') : null;
  },
  lines: [{ status: [401, 403, 404, 410], means: 'gone', because: 'the webhook or its space was removed' }],
  // A minute brings sixty messages to a space; no other wait is told.
  floorMs: 60_000,
});
