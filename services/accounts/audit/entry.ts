/** An event as an entry of the audit: what is secret or personal in it is masked, and a task's change is told by path. */
import { auditEntryId, hashOfChange, nounOf, type AuditDocument, type ChainHead } from '#contracts/audit';
import { taskFold, type Task, type TaskEvent } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { isJsonObject, type Json, type JsonObject } from '#runtime/json';
import { diffPaths } from '#runtime/json-diff';
import { secretMask } from '#runtime/secret-mask';
import { isSealed } from '#vault/vault';

/** Members that are no settings but what secrets are recognised by: nobody needs them to see what happened. */
const keptBack = /hash$|^hash|salt|token|wrapped|secret|recovery/i;

/** Values that are sealed are masked. `isTask`: what a task holds in clear was written to be seen. */
export function masked(value: Json, isTask: boolean): Json {
  if (isSealed(value)) return secretMask;
  if (Array.isArray(value)) return (value as readonly Json[]).map((entry) => masked(entry, isTask));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value)
    .filter(([name]) => isTask || !keptBack.test(name))
    .map(([name, member]) => [name, masked(member, isTask)]);
  return Object.fromEntries(members) as JsonObject;
}

const textAt = (data: JsonObject, ...path: readonly string[]): string | null => {
  let inner: Json | undefined = data;
  for (const name of path) inner = isJsonObject(inner) ? inner[name] : undefined;
  return typeof inner === 'string' ? inner : null;
};

function resourceOf({ stream, type, data, metadata }: RecordedEvent): string {
  const id = stream.slice(stream.indexOf('-') + 1);
  switch (nounOf(type)) {
    case 'member':
      return textAt(data, 'id') ?? id;
    case 'session':
      // The name of its stream finds a session by its token.
      return textAt(data, 'userId') ?? metadata.actor.replace('user:', '');
    case 'activity':
      return textAt(data, 'resource') ?? id;
    case 'contact':
      // By its name within the organisation.
      return id.slice(id.indexOf('/') + 1);
    default:
      return id;
  }
}

const settingsOf = (task: Task): JsonObject =>
  task.status === 'none' ? {} : { ...(task.spec as unknown as JsonObject), status: task.status };

export const taskAfter = (task: Task, event: RecordedEvent): Task =>
  taskFold.evolve(task, decodeEvent<TaskEvent>(event));

export interface AuditedEvent {
  /** As it is stored: what the chain covers. */
  readonly stored: RecordedEvent;
  /** As readers see it. */
  readonly opened: RecordedEvent;
  /** The task before it; null where it is about something else. */
  readonly before: Task | null;
}

/** Once contents are purged: the place in the chain, and nothing of what it was about. */
export function withoutContents({ changes: _changes, ...document }: AuditDocument): AuditDocument {
  return { ...document, data: {}, purged: true };
}

export function auditDocumentOf({ stored, opened, before }: AuditedEvent, head: ChainHead): AuditDocument {
  const { stream, revision, position, type, metadata } = stored;
  const { organizationId, at, actor, requestId } = metadata;
  const sequence = head.sequence + 1;
  const hash = hashOfChange(stored, head.hash);
  const isTask = before !== null;
  const document: AuditDocument = {
    id: auditEntryId(at, sequence, hash),
    organizationId,
    sequence,
    at,
    type,
    actor,
    resource: resourceOf(opened),
    requestId,
    revision,
    data: {},
    previousHash: head.hash,
    hash,
    stream,
    streamRevision: revision,
    position,
  };
  if (opened.isPurged === true) return { ...document, purged: true };
  const data = masked(opened.data, isTask) as AuditDocument['data'];
  // What was changed by a purge is what nobody is to read any more.
  if (before === null || type === 'task.purged') return { ...document, data };
  const changes = diffPaths(settingsOf(before), settingsOf(taskAfter(before, opened)));
  return { ...document, data, changes: masked(changes as unknown as Json, true) as AuditDocument['changes'] };
}
