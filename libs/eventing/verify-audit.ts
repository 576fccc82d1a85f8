/** Recomputes the chain of an organisation's changes from the events as they are stored, and holds it against what is kept of it. */
import {
  auditedNouns,
  auditedPrefixes,
  auditView,
  chainStart,
  hashOfChange,
  nounOf,
  type AuditDocument,
  type AuditVerification,
  type ChainHead,
  type ChainedChange,
} from '#contracts/audit';
import type { EventArchive, EventBatch, RecordedEvent, Subscription } from '#event-store/event-store';
import { readThrough } from '#event-store/read-through';
import type { PageQuery, ReadStore } from '#read-store/read-store';
import type { SignedHead } from './audit-heads.js';

/** Whether an event is an entry of the audit, by what is in clear of it. */
export const isAudited = ({ type, stream, metadata }: Pick<RecordedEvent, 'type' | 'stream' | 'metadata'>): boolean => {
  const prefix = auditedNouns[nounOf(type)];
  return prefix !== undefined && stream.startsWith(prefix) && metadata.organizationId !== '';
};

/** The changes of one organisation, or of all, in the order of the chain. */
export async function* changesOf(
  store: { subscribe(subscription: Subscription): AsyncIterable<EventBatch> },
  end: number | null,
): AsyncGenerator<RecordedEvent> {
  const audited = {
    subscribe: (subscription: Subscription) => store.subscribe({ ...subscription, prefixes: auditedPrefixes }),
  };
  for await (const { events } of readThrough(audited, { end }))
    for (const event of events) if (isAudited(event)) yield event;
}

type Fault = NonNullable<AuditVerification['brokenAt']>;

const messages: Readonly<Record<Fault['reason'], (sequence: number) => string>> = {
  differs: (sequence) => `Entry ${sequence} is not what was chained: the events were changed, or the view was.`,
  missing: (sequence) => `Entry ${sequence} was there, and its event is gone: events were cut off or taken out.`,
  head_differs: (sequence) => `A signed head tells of another entry ${sequence}: the events before it were changed.`,
  head_forged: (sequence) => `The head of entry ${sequence} does not have this installation's signature.`,
};

const fault = (reason: Fault['reason'], sequence: number, id: string | null): Fault => ({
  sequence,
  id,
  reason,
  message: messages[reason](sequence),
});

const pageLimit = 1_000;

/** What the view holds of the chain up to a position, oldest first: it goes on while it is read. */
async function* entriesOf(
  readStore: Pick<ReadStore, 'page'>,
  organizationId: string,
  end: number,
): AsyncGenerator<AuditDocument> {
  let query: PageQuery = {
    where: [
      { field: 'organizationId', equals: organizationId },
      { field: 'position', to: end },
    ],
    sort: [{ field: 'position', descending: false }],
    limit: pageLimit,
    offset: 0,
    count: false,
  };
  for (;;) {
    const { documents } = await readStore.page(auditView, query);
    yield* documents;
    const last = documents.at(-1);
    if (last === undefined || documents.length < pageLimit) return;
    query = { ...query, behind: { values: [last.position], id: last.id } };
  }
}

/** Recomputes one chain, an event after the other, and notes the first that differs. */
export function createChainCheck(heads: readonly SignedHead[]) {
  const bySequence = new Map(heads.map((head) => [head.sequence, head]));
  let head: ChainHead = chainStart;
  let broken: Fault | null = null;
  const note = (found: Fault): void => {
    if (broken === null || found.sequence < broken.sequence) broken = found;
  };
  return {
    add(change: ChainedChange, kept: Pick<AuditDocument, 'id' | 'hash' | 'sequence'> | null): void {
      head = { sequence: head.sequence + 1, hash: hashOfChange(change, head.hash) };
      if (kept !== null && kept.hash !== head.hash) note(fault('differs', head.sequence, kept.id));
      const signed = bySequence.get(head.sequence);
      if (signed === undefined) return;
      if (!signed.isGenuine) note(fault('head_forged', head.sequence, null));
      else if (signed.hash !== head.hash) note(fault('head_differs', head.sequence, kept?.id ?? null));
    },
    /** `kept`: an entry behind the last event. */
    ended(kept: Pick<AuditDocument, 'id' | 'sequence'> | null): AuditVerification {
      if (kept !== null) note(fault('missing', head.sequence + 1, kept.id));
      for (const { sequence, isGenuine } of heads) {
        if (sequence <= head.sequence) continue;
        note(isGenuine ? fault('missing', head.sequence + 1, null) : fault('head_forged', sequence, null));
      }
      const { sequence: events, hash } = head;
      const checked = { events, head: hash, heads: heads.length };
      return broken === null ? { intact: true, ...checked } : { intact: false, ...checked, brokenAt: broken };
    },
  };
}

export interface AuditToVerify {
  /** With the events as they are stored. */
  readonly storedEvents: Pick<EventArchive, 'subscribe' | 'lastPosition'>;
  readonly readStore: Pick<ReadStore, 'page' | 'checkpoint'>;
  readonly organizationId: string;
  readonly heads: readonly SignedHead[];
}

export async function verifyAudit({
  storedEvents,
  readStore,
  organizationId,
  heads,
}: AuditToVerify): Promise<AuditVerification> {
  // What the view has not seen yet is chained later.
  const [seen, last] = [await readStore.checkpoint(auditView), await storedEvents.lastPosition()];
  const end = seen === null || last === null ? null : Math.min(seen, last);
  const entries = entriesOf(readStore, organizationId, seen ?? 0);
  const check = createChainCheck(heads);
  for await (const event of changesOf(storedEvents, end)) {
    if (event.metadata.organizationId !== organizationId) continue;
    const entry = await entries.next();
    check.add(event, entry.done === true ? null : entry.value);
  }
  const beyond = await entries.next();
  return check.ended(beyond.done === true ? null : beyond.value);
}
