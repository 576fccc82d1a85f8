/** Jira: what answers mean. Some places of a site answer a sign-in page with 200. */
import { isJsonObject, type Json, type JsonObject } from '#runtime/json';
import { deletedIssue } from '../tracked-issue.js';
import { classifyAs, textAt, type VendorAnswer } from '../vendor-answers.js';

const mostTransitions = 50;

function listAt(body: JsonObject | null, name: string): readonly JsonObject[] {
  const list: Json | undefined = body?.[name];
  return Array.isArray(list) ? list.filter((one) => isJsonObject(one)) : [];
}

function objectAt(value: JsonObject | null, name: string): JsonObject | null {
  const found = value?.[name];
  return isJsonObject(found) ? found : null;
}

/** Id, name and the category of the status that it leads to. */
function transitionsOf({ body }: VendorAnswer): string[][] {
  return listAt(body, 'transitions')
    .slice(0, mostTransitions)
    .map((one) => {
      const category = objectAt(objectAt(one, 'to'), 'statusCategory');
      return [textAt(one, 'id') ?? '', textAt(one, 'name') ?? '', textAt(category, 'key') ?? ''];
    });
}

function isDone({ body }: VendorAnswer): boolean {
  const fields = objectAt(body, 'fields');
  return textAt(objectAt(objectAt(fields, 'status'), 'statusCategory'), 'key') === 'done';
}

export const classifyJira = classifyAs({
  vendor: 'Jira',
  delivered({ step, status, body }) {
    if (step === 'close') return status === 204;
    if (step === 'search') return Array.isArray(body?.['issues']);
    if (step === 'transitions') return Array.isArray(body?.['transitions']);
    return textAt(body, step === 'comment' ? 'id' : 'key') !== null;
  },
  receiptOf(answer) {
    const { step, status, body } = answer;
    if (status >= 300) return step === 'comment' ? deletedIssue : null;
    if (step === 'transitions') return { transitions: transitionsOf(answer), isDone: isDone(answer) };
    const key = textAt(step === 'search' ? listAt(body, 'issues')[0] : body, 'key');
    return key === null || step === 'comment' ? null : { key };
  },
  lines: [
    { status: [401, 403], means: 'gone', because: 'the token is not valid, or may not do this in the project' },
    {
      status: [400],
      means: 'refused',
      because: 'check projectKey and issueType, and which fields the project demands',
    },
    { status: [404], when: ({ step }) => step !== 'create' && step !== 'search', means: 'delivered' },
  ],
  hintMs({ status, headers, nowMs }) {
    const reset = Date.parse(headers['x-ratelimit-reset'] ?? '');
    return status === 429 && Number.isFinite(reset) && headers['retry-after'] === undefined
      ? Math.max(0, reset - nowMs)
      : null;
  },
});
