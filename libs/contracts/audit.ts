/** The audit: every change in an organisation, in the order of the event store, each entry chained to the one before it. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { idSchema, storedTimestamp } from './common.js';
import type { ViewDefinition } from '#read-store/read-store';
import { encodeUlid } from '#runtime/ids';
import type { JsonObject } from '#runtime/json';

/** The first word of the types of events that are changes, and the prefix of the streams that they stand in. */
export const auditedNouns: Readonly<Record<string, string>> = {
  task: 'task-',
  organization: 'org-',
  member: 'org-',
  key: 'key-',
  contact: 'contact-',
  session: 'session-',
  activity: 'activity-',
};

/** Those of all other events: what runs, sends and keeps order by itself. A new noun is named here or above. */
export const unauditedNouns: readonly string[] = [
  'runs',
  'deliveries',
  'schedule',
  'slot',
  'slots',
  'run',
  'runs',
  'delivery',
  'deliveries',
  'attempt',
  'message',
  'integrity',
  'installation',
  'externalkey',
  'vault',
];

export const auditedPrefixes: readonly string[] = [...new Set(Object.values(auditedNouns))];

export const nounOf = (eventType: string): string => eventType.slice(0, eventType.indexOf('.'));

export const auditEntry = z
  .object({
    id: idSchema('evt').describe('Of this entry.'),
    sequence: z.int().min(1).describe('Its place in the chain of the organisation, from 1, without gaps.'),
    at: storedTimestamp.describe('When it happened.'),
    type: z.string().describe('What happened: `task.changed`, `key.revoked` and so on.'),
    actor: z.string().describe('By whom: `key:<id>`, `user:<id>` or a part of the service (`system:<part>`).'),
    resource: z.string().describe('What it happened to: the id of a task, key, member or organisation.'),
    requestId: z.string().describe('The request that it came with.'),
    revision: z.int().describe('Of the resource, after it.'),
    data: z.record(z.string(), z.json()).describe('What is on record of it; secrets and addresses are masked.'),
    changes: z
      .array(
        z.object({
          path: z.string().describe('Such as `policy.cooldownSeconds`.'),
          from: z.json().optional().describe('Absent: it was not there.'),
          to: z.json().optional().describe('Absent: it is not there any more.'),
        }),
      )
      .optional()
      .describe('What a task’s change changed, by path.'),
    purged: z.literal(true).optional().describe('The contents were purged: that it happened is all that is known.'),
    previousHash: z.string().describe('The hash of the entry before it; empty for the first.'),
    hash: z.string().describe('SHA-256 over the hash of the entry before it and the event as it is stored.'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof auditEntry>;

/** The view `audit`. */
export const auditDocument = auditEntry.extend({
  organizationId: z.string(),
  /** Of the event, in the event store. */
  stream: z.string(),
  streamRevision: z.int(),
  position: z.int(),
  /** Over all of it, by a key of the installation; absent: of a version before there were any. */
  mac: z.string().optional(),
});
export type AuditDocument = z.infer<typeof auditDocument>;

export const auditView: ViewDefinition<AuditDocument> = {
  name: 'audit',
  fields: ['organizationId', 'at', 'type', 'actor', 'resource', 'position'],
  indexes: [
    ['organizationId', 'at'],
    ['organizationId', 'type', 'at'],
    ['organizationId', 'actor', 'at'],
    ['organizationId', 'resource', 'at'],
    ['organizationId', 'position'],
  ],
};

/** An event as the chain covers it. `data`: as it is stored, sealed where it is. */
export interface ChainedChange {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly data: JsonObject;
  readonly metadata: {
    readonly organizationId: string;
    readonly actor: string;
    readonly requestId: string;
    readonly at: string;
  };
}

export interface ChainHead {
  readonly sequence: number;
  readonly hash: string;
}

export const chainStart: ChainHead = { sequence: 0, hash: '' };

/** Texts that stand in JSON as they are. */
const unescaped = /^[\w-]*$/;

/** As JSON. What is sealed is put together: to look for what must be escaped costs more than all else of an entry. */
function textOf(data: JsonObject): string {
  const sealed = data['$sealed'];
  const isSealedAlone = typeof sealed === 'string' && Object.keys(data).length === 1 && unescaped.test(sealed);
  return isSealedAlone ? `{"$sealed":"${sealed}"}` : JSON.stringify(data);
}

/** Of the data as it is stored; where that was erased, what it was then. */
const dataDigest = (data: JsonObject): string =>
  typeof data['$erased'] === 'string' ? data['$erased'] : hash('sha256', textOf(data), 'base64url');

/** The hash of an entry: anyone can recompute it who has the events as they are stored. */
export function hashOfChange(
  { stream, revision, id, type, version, data, metadata }: ChainedChange,
  previousHash: string,
): string {
  const { organizationId, actor, requestId, at } = metadata;
  const text = JSON.stringify([
    previousHash,
    stream,
    revision,
    id.toLowerCase(),
    type,
    version,
    organizationId,
    actor,
    requestId,
    at,
    dataDigest(data),
  ]);
  return hash('sha256', text, 'base64url');
}

/** Ids sort as the entries do: by time, then by their place in the chain. */
export function auditEntryId(at: string, sequence: number, entryHash: string): string {
  const bits = Buffer.alloc(10);
  bits.writeUIntBE(sequence, 0, 6);
  bits.write(entryHash.slice(0, 6), 6, 'base64url');
  return `evt_${encodeUlid(Date.parse(at), bits)}`;
}

export const auditVerification = z
  .object({
    intact: z.boolean().describe('Every entry is what was chained, and no signed head tells of one that is gone.'),
    events: z.int().describe('Entries that were recomputed.'),
    head: z.string().describe('The hash of the last one; empty where there is none.'),
    heads: z.int().describe('Signed heads that were held against them.'),
    brokenAt: z
      .object({
        sequence: z.int().describe('The first entry that differs, or is missing.'),
        id: idSchema('evt').nullable().describe('Of the entry; null where it is gone.'),
        reason: z.enum(['differs', 'missing', 'head_differs', 'head_forged']).describe('What is wrong.'),
        message: z.string().describe('For people.'),
      })
      .optional()
      .describe('Absent: nothing is wrong.'),
    warnings: z
      .array(z.string())
      .describe(
        'For people: why entries may be gone without a trace, as where a start found fewer events than before.',
      ),
  })
  .meta({ id: 'AuditVerification' });
export type AuditVerification = z.infer<typeof auditVerification>;
/** What is found of a chain by itself. */
export type ChainVerdict = Omit<AuditVerification, 'warnings'>;
