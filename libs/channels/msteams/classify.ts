/** Microsoft Teams: what a workflow's answers mean. It says 202 before its card is posted, and nothing later. */
import { isJsonObject } from '#runtime/json';
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifyTeams = classifyAs({
  vendor: 'Microsoft Teams',
  delivered: ({ text, body }) => text.trim() === '' || (body !== null && !('error' in body)),
  codeOf({ body }) {
    const error = body?.['error'];
    return isJsonObject(error) ? textAt(error, 'code') : null;
  },
  floorMs: 60_000,
  lines: [
    {
      code: ['WorkflowTriggerIsNotEnabled', 'WorkflowNotFound'],
      means: 'gone',
      because: 'the workflow is switched off or was deleted; a new one has another address',
    },
    {
      code: /SignatureMismatch|AuthorizationRequired/,
      means: 'gone',
      because: 'the address is not whole, or not open to anyone',
    },
    { status: [401, 403, 404, 410], means: 'gone' },
    { status: [400, 413], means: 'refused' },
  ],
});
