/** Recomputes the chain of an organisation's changes from the events as they are stored, and holds it against what is kept of it. */
import {
  auditedNouns,
  auditedPrefixes,
  auditView,
  chainStart,
  hashOfChange,
  nounOf,
  type AuditDocument,
  type ChainVerdict,
  type ChainHead,
  type ChainedChange,
} from '#contracts/audit';
import type { EventArchive, EventBatch, RecordedEvent, Subscription } from '#event-store/event-store';
import { readThrough } from '#event-store/read-through';
import type { PageQuery, ReadStore } from '#read-store/read-store';
import type { AuditSigner, SignedHead } from './audit-heads.js';

/** Whether an event is an entry of the audit, by what is in clear of it. */
export const isAudited = ({ type, stream, metadata }: Pick<RecordedEvent, 'type' | 'stream' | 'metadata'>): boolean => {
  const prefix = auditedNouns[nounOf(type)];
  return prefix !== undefined && stream.startsWith(prefix) && metadata.organizationId !== '';
};

/** The changes of all organisations in the order of the chain, as many at once as the store hands over. */
export async function* changesOf(
  store: { subscribe(subscription: Subscription): AsyncIterable<EventBatch> },
  end: number | null,
): AsyncGenerator<readonly RecordedEvent[]> {
  const audited = {
    subscribe: (subscription: Subscription) => store.subscribe({ ...subscription, prefixes: auditedPrefixes }),
  };
  for await (const { events } of readThrough(audited, { end })) yield events.filter(isAudited);
}

type Fault = NonNullable<ChainVerdict['brokenAt']>;

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

/** What the view holds of the chain up to a position, oldest first and some at once: it goes on while it is read. */
async function* entriesOf(
  readStore: Pick<ReadStore, 'page'>,
  organizationId: string,
  end: number,
): AsyncGenerator<readonly AuditDocument[]> {
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
    yield documents;
    const last = documents.at(-1);
    if (last === undefined || documents.length < pageLimit) return;
    query = { ...query, behind: { values: [last.position], id: last.id } };
  }
}

/** Hands over one after the other; waits where none is there yet. null: that was the last. */
function oneByOne<T>(pages: AsyncGenerator<readonly T[]>): () => T | Promise<T | null> {
  let page: readonly T[] = [];
  let place = 0;
  const turn = async (): Promise<T | null> => {
    const next = await pages.next();
    if (next.done === true) return null;
    [page, place] = [next.value, 1];
    return page[0] ?? turn();
  };
  return () => {
    const there = page[place];
    if (there === undefined) return turn();
    place += 1;
    return there;
  };
}

/** What the view holds of an event. `isOwn`: it is shown as it was written. */
interface KeptEntry extends Pick<AuditDocument, 'id' | 'hash'> {
  readonly isOwn: boolean;
}

/** Recomputes one chain, an event after the other, and notes the first that differs. */
export function createChainCheck(heads: readonly SignedHead[]) {
  const bySequence = Map.groupBy(heads, ({ sequence }) => sequence);
  const met = new Set<SignedHead>();
  let head: ChainHead = chainStart;
  let broken: Fault | null = null;
  const note = (found: Fault): void => {
    if (broken === null || found.sequence < broken.sequence) broken = found;
  };
  return {
    /** `kept`: null where there is no view to hold it against, `absent` where there is one that lacks it. */
    add(change: ChainedChange, kept: KeptEntry | 'absent' | null): void {
      head = { sequence: head.sequence + 1, hash: hashOfChange(change, head.hash) };
      const entry = kept === 'absent' ? null : kept;
      if (kept === 'absent') note(fault('differs', head.sequence, null));
      else if (entry !== null && (entry.hash !== head.hash || !entry.isOwn)) {
        note(fault('differs', head.sequence, entry.id));
      }
      for (const signed of bySequence.get(head.sequence) ?? []) {
        if (!signed.isGenuine) note(fault('head_forged', head.sequence, null));
        else if (signed.hash !== head.hash) note(fault('head_differs', head.sequence, entry?.id ?? null));
        else met.add(signed);
      }
    },
    /** Heads that tell of something else than what was added. */
    unmet: (): readonly SignedHead[] => heads.filter((signed) => !met.has(signed)),
    /** `kept`: an entry behind the last event. */
    ended(kept: Pick<AuditDocument, 'id' | 'sequence'> | null): ChainVerdict {
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
  readonly signer: Pick<AuditSigner, 'isOwnEntry'>;
}

export async function verifyAudit({
  storedEvents,
  readStore,
  organizationId,
  heads,
  signer,
}: AuditToVerify): Promise<ChainVerdict> {
  // What the view has not seen yet is chained later.
  const [seen, last] = [await readStore.checkpoint(auditView), await storedEvents.lastPosition()];
  const end = seen === null || last === null ? null : Math.min(seen, last);
  const nextEntry = oneByOne(entriesOf(readStore, organizationId, seen ?? 0));
  const check = createChainCheck(heads);
  for await (const changes of changesOf(storedEvents, end)) {
    for (const change of changes) {
      if (change.metadata.organizationId !== organizationId) continue;
      const found = nextEntry();
      const entry = found instanceof Promise ? await found : found;
      check.add(
        change,
        entry === null ? 'absent' : { id: entry.id, hash: entry.hash, isOwn: signer.isOwnEntry(entry) },
      );
    }
  }
  return check.ended(await nextEntry());
}
