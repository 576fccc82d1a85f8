/** GitHub: what answers mean. 403 is also what says that there were too many. */
import { isJsonObject } from '#runtime/json';
import { deletedIssue } from '../tracked-issue.js';
import { classifyAs, textAt, untilMs, type VendorAnswer } from '../vendor-answers.js';

function isLimited({ headers, text }: VendorAnswer): boolean {
  return (
    headers['retry-after'] !== undefined ||
    headers['x-ratelimit-remaining'] === '0' ||
    /secondary rate limit/i.test(text)
  );
}

export const classifyGithubIssue = classifyAs({
  vendor: 'GitHub',
  delivered({ step, body }) {
    if (step === 'search') return Array.isArray(body?.['items']);
    return typeof body?.[step === 'comment' ? 'id' : 'number'] === 'number';
  },
  codeOf: ({ status, body }) => (status < 300 ? null : textAt(body, 'message')),
  receiptOf({ step, status, body }) {
    if (status >= 300) return step === 'comment' ? deletedIssue : null;
    const items = body?.['items'];
    const found: unknown = step === 'search' ? (Array.isArray(items) ? items[0] : undefined) : body;
    const number = isJsonObject(found) ? found['number'] : undefined;
    return typeof number === 'number' && step !== 'comment' ? { number } : null;
  },
  lines: [
    { status: [403, 429], when: isLimited, means: 'retry' },
    {
      status: [301, 302, 307, 308],
      means: 'refused',
      because: 'the repository was renamed; set repository to its new name',
    },
    { status: [404, 410], when: ({ step }) => step === 'comment' || step === 'close', means: 'delivered' },
    {
      status: [403],
      when: ({ step, text }) => step === 'comment' && /locked/i.test(text),
      means: 'refused',
      because: 'the conversation of the issue is locked; unlock it, or open another one',
    },
    {
      status: [401, 403, 404, 410],
      means: 'gone',
      because: 'the token may not write issues there, or the repository has none',
    },
    { status: [400, 422], means: 'refused' },
  ],
  hintMs: ({ status, headers, nowMs }) =>
    (status === 403 || status === 429) &&
    headers['retry-after'] === undefined &&
    headers['x-ratelimit-remaining'] === '0'
      ? untilMs(headers['x-ratelimit-reset'], 1_000, nowMs)
      : null,
  floorMs: 60_000,
});
