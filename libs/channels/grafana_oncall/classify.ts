/** Grafana OnCall: what answers mean. Too many are refused for five minutes. */
import { classifyAs } from '../vendor-answers.js';

export const classifyGrafanaOncall = classifyAs({
  vendor: 'Grafana OnCall',
  // It says `Ok.`, and later versions an object.
  delivered: ({ text, body }) => body !== null || /^"?ok\.?"?$/i.test(text.trim()),
  lines: [{ status: [401, 403, 404, 410], means: 'gone', because: 'there is no such integration' }],
  floorMs: 300_000,
});
