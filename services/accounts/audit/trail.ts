/**
 * Keeps the view `audit`: follows the changes in the order of the event store and chains them per organisation. The chain
 * follows from that order alone, so a view that is made anew has the same hashes, whichever engine holds the events.
 */
import { createLru } from '#concurrency/lru';
import { auditView, auditedPrefixes, chainStart, type AuditDocument, type ChainHead } from '#contracts/audit';
import { taskFold, taskStream, type Task } from '#contracts/task';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import type { AuditSigner } from '#eventing/audit-heads';
import { startFollower } from '#eventing/follower';
import { settled } from '#eventing/projected';
import { resetAfterRewind } from '#eventing/store-rewind';
import { isAudited } from '#eventing/verify-audit';
import type { LeasedWork, Leases } from '#leases/leases';
import type { DocumentWrite, PageQuery, ReadStore, ViewStore } from '#read-store/read-store';
import type { Logger } from '#runtime/logger';
import type { EventOpener } from '#vault/sealed-events';
import { auditDocumentOf, taskAfter, withoutContents } from './entry.js';

export interface AuditTrailDeps {
  /** With the events as they are stored: what the chain covers. */
  readonly storedEvents: EventStore;
  readonly opener: EventOpener;
  readonly readStore: ViewStore;
  readonly leases: Leases;
  readonly signer: Pick<AuditSigner, 'signEntry'>;
  readonly logger: Logger;
}

const tasksKept = 2_000;
const purgedAtOnce = 500;

/** The newest entry of an organisation up to a position. */
export async function headOf(
  readStore: Pick<ReadStore, 'page'>,
  organizationId: string,
  position: number | null,
): Promise<AuditDocument | null> {
  const { documents } = await readStore.page(auditView, {
    where: [
      { field: 'organizationId', equals: organizationId },
      ...(position === null ? [] : [{ field: 'position', to: position }]),
    ],
    sort: [{ field: 'position', descending: true }],
    limit: 1,
    offset: 0,
    count: false,
  });
  return documents[0] ?? null;
}

/** Entries of before there were MACs prove nothing of what they show: they are made anew of the events. */
async function resetWithoutMacs({ readStore, logger }: Pick<AuditTrailDeps, 'readStore' | 'logger'>): Promise<void> {
  const oldest = { where: [], sort: [], limit: 1, offset: 0, count: false };
  const { documents } = await readStore.page(auditView, oldest);
  if (documents[0] === undefined || documents[0].mac !== undefined) return;
  logger.info({}, 'the audit is made anew of its events: its entries carry MACs from now on');
  await readStore.reset(auditView);
}

interface KnownTask {
  readonly revision: number;
  readonly task: Task;
}

/** Tasks as they were before an event. */
function createPastTasks({ storedEvents, opener }: Pick<AuditTrailDeps, 'storedEvents' | 'opener'>) {
  const known = createLru<string, KnownTask>(tasksKept);
  const fold = async (stream: string, until: number): Promise<Task> => {
    let task = taskFold.initial;
    for await (const event of storedEvents.read(stream)) {
      if (event.revision >= until) break;
      for (const opened of await opener.open([event])) task = taskAfter(task, opened);
    }
    return task;
  };
  return {
    async before({ stream, revision }: RecordedEvent): Promise<Task> {
      const last = known.get(stream);
      if (last?.revision === revision - 1) return last.task;
      return revision === 0 ? taskFold.initial : fold(stream, revision);
    },
    remember(event: RecordedEvent, before: Task): void {
      if (event.isPurged === true) known.delete(event.stream);
      else known.set(event.stream, { revision: event.revision, task: taskAfter(before, event) });
    },
  };
}

export function startAuditTrail(deps: AuditTrailDeps): LeasedWork {
  const { storedEvents, opener, readStore, signer } = deps;
  const tasks = createPastTasks(deps);
  let seen: number | null = null;

  const documentOf = async (stored: RecordedEvent, head: ChainHead): Promise<AuditDocument> => {
    const [opened = { ...stored, data: {}, isPurged: true as const }] = await opener.open([stored], true);
    if (!stored.stream.startsWith(taskStream(''))) return auditDocumentOf({ stored, opened, before: null }, head);
    const before = opened.isPurged === true ? taskFold.initial : await tasks.before(opened);
    const document = auditDocumentOf({ stored, opened, before }, head);
    tasks.remember(opened, before);
    return document;
  };

  const emptied = (document: AuditDocument): AuditDocument => signer.signEntry(withoutContents(document));

  /** Entries of the task that were written before; a crash in the middle leaves some, and the event comes again. */
  const purgeWritten = async ({ stream, position, metadata }: RecordedEvent): Promise<void> => {
    let query: PageQuery = {
      where: [
        { field: 'organizationId', equals: metadata.organizationId },
        { field: 'resource', equals: stream.slice(taskStream('').length) },
      ],
      sort: [{ field: 'at', descending: false }],
      limit: purgedAtOnce,
      offset: 0,
      count: false,
    };
    for (;;) {
      const { documents } = await readStore.page(auditView, query);
      const writes = documents
        .filter((document) => document.position < position && document.purged !== true)
        .map((document) => ({ id: document.id, revision: position, document: emptied(document) }));
      if (writes.length > 0) await readStore.save(auditView, writes, null);
      const last = documents.at(-1);
      if (last === undefined || documents.length < purgedAtOnce) return;
      query = { ...query, behind: { values: [last.at], id: last.id } };
    }
  };

  return startFollower({
    name: 'view-audit',
    prefixes: auditedPrefixes,
    eventStore: storedEvents,
    leases: deps.leases,
    logger: deps.logger,
    async after() {
      await resetAfterRewind({ ...deps, eventStore: storedEvents }, auditView);
      await resetWithoutMacs(deps);
      return (seen = await readStore.checkpoint(auditView));
    },
    async handle({ events, position }) {
      const heads = new Map<string, ChainHead>();
      const writes = new Map<string, DocumentWrite<AuditDocument>>();
      for (const event of events) {
        if (!isAudited(event) || (seen !== null && event.position <= seen)) continue;
        const { organizationId } = event.metadata;
        const head =
          heads.get(organizationId) ??
          (seen === null ? chainStart : ((await headOf(readStore, organizationId, seen)) ?? chainStart));
        const document = await documentOf(event, head);
        heads.set(organizationId, document);
        const written = signer.signEntry(settled(document) ?? document);
        writes.set(document.id, { id: document.id, revision: event.position, document: written });
        if (event.type !== 'task.purged') continue;
        await purgeWritten(event);
        for (const [id, write] of writes) {
          const { document: earlier } = write;
          if (earlier === null || earlier.stream !== event.stream || id === document.id) continue;
          writes.set(id, { ...write, revision: event.position, document: emptied(earlier) });
        }
      }
      await readStore.save(auditView, [...writes.values()], position, seen, events.at(-1));
      seen = position;
    },
  });
}
