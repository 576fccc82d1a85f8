/** The operations on the audit. */
import { z } from 'zod';
import { auditedNouns, auditEntry, auditVerification, nounOf } from '#contracts/audit';
import { eventCatalogue } from '#contracts/catalogue';
import { afterParameter, pageParameters, timeParameter } from '#http/parameters';
import { route } from '#http/route';
import { idPrefixes, ulidPattern } from '#runtime/ids';

/** A filter that nothing can match is a slip: an empty answer would read as if nothing had happened. */
const word = (pattern: RegExp, must: string, description: string, example: string) =>
  z.string().max(200).regex(pattern, { error: must }).optional().meta({ description, example });

const actorShape = new RegExp(`^(?:(?:key:key|user:usr|link:act)_${ulidPattern}|system:[a-z]+)$`);
const resourceShape = new RegExp(`^(?:(?:${idPrefixes.join('|')})_${ulidPattern}|[a-z0-9-]{1,64})$`);
const auditedTypes = Object.keys(eventCatalogue).filter((type) => auditedNouns[nounOf(type)] !== undefined);

const auditFilters = z.strictObject({
  ...pageParameters,
  after: afterParameter,
  actor: word(
    actorShape,
    'must be key:<id>, user:<id>, link:<id of the action> or system:<part>',
    '`key:<id>`, `user:<id>`, `link:<id of the action>` (who acknowledged by the link of a message) or `system:<part>`.',
    'system:delivery',
  ),
  type: z
    .enum(auditedTypes as [string, ...string[]])
    .optional()
    .meta({ description: 'What happened.', example: 'task.changed' }),
  resource: word(
    resourceShape,
    'must be the id of a task, key, member, delivery or organisation, or the name of a contact',
    'The id of a task, key, member, delivery or organisation, or the name of a contact.',
    'ntf_01kbq8t1v4e7k2m9x3r5w6y8za',
  ),
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
