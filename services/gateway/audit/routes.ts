/** The operations on the audit. */
import { z } from 'zod';
import { auditEntry, auditVerification } from '#contracts/audit';
import { afterParameter, pageParameters, timeParameter } from '#http/parameters';
import { route } from '#http/route';

const word = (description: string, example: string) =>
  z.string().min(1).max(200).optional().meta({ description, example });

const auditFilters = z.strictObject({
  ...pageParameters,
  after: afterParameter,
  actor: word('`key:<id>`, `user:<id>` or `system:<part>`.', 'system:delivery'),
  type: word('Such as `task.changed`.', 'task.changed'),
  resource: word('The id of a task, key, member or organisation.', 'ntf_01kbq8t1v4e7k2m9x3r5w6y8za'),
  from: timeParameter.optional(),
  to: timeParameter.optional(),
});
export type AuditFilters = z.output<typeof auditFilters>;

export const listAudit = route({
  method: 'GET',
  path: '/api/audit',
  operationId: 'listAudit',
  summary: 'Every change in the organisation, newest first',
  description:
    'Tasks, actions, keys, members, sessions and the organisation: who changed what, when, and in which request. With `Accept: application/x-ndjson` all entries that match are streamed, one JSON object a line, oldest first; `page`, `limit` and `after` do not count then.',
  tag: 'Audit',
  access: 'admin',
  query: auditFilters,
  answers: [{ status: 200, description: 'Entries, newest first.', envelope: 'list', schema: auditEntry, cursor: true }],
});

export const verifyAudit = route({
  method: 'GET',
  path: '/api/audit/verify',
  operationId: 'verifyAudit',
  summary: 'Whether the audit is what was recorded',
  description:
    'Recomputes the hash chain of the organisation from the stored events and holds it against the entries and the signed heads of each day. `brokenAt` names the first entry that is not what it was. One verification runs at a time in a process (429 `verification_running`).',
  tag: 'Audit',
  access: 'admin',
  answers: [{ status: 200, description: 'What was found.', envelope: 'data', schema: auditVerification }],
});
