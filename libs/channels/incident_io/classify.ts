/** incident.io: what answers mean. */
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifyIncidentIo = classifyAs({
  vendor: 'incident.io',
  delivered: ({ body }) => textAt(body, 'status') === 'success',
  codeOf: ({ status, body }) => (status < 300 ? null : textAt(body, 'type')),
  lines: [{ status: [401, 403, 404, 410], means: 'gone', because: 'the token or the alert source is not valid' }],
});
