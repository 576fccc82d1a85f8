/** Gotify: what a server's answers mean. */
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifyGotify = classifyAs({
  vendor: 'Gotify',
  delivered: ({ body }) => typeof body?.['id'] === 'number',
  codeOf: ({ body }) => textAt(body, 'errorDescription'),
  lines: [{ status: [401, 403], means: 'gone', because: 'the token is not that of an application' }],
});
