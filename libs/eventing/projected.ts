/** What a view is made of, and what events make of its documents. */
import type { RecordedEvent } from '#event-store/event-store';
import type { JsonObject } from '#runtime/json';
import type { DocumentWrite, ReadStore, ViewDefinition } from '#read-store/read-store';

/** What a view is made of. */
export interface Projected<Document extends object = JsonObject> {
  readonly view: ViewDefinition<Document>;
  /** Streams that feed it. */
  readonly prefixes: readonly string[];
  /** Which document an event is about; null: none. */
  idOf(event: RecordedEvent): string | null;
  /** The document after the event; null removes it. Pure: no clock, no randomness, so that a rebuild gives the same bytes. */
  reduce(document: Document | null, event: RecordedEvent): Document | null;
}

function hasUndefined(document: object): boolean {
  for (const name in document) if ((document as JsonObject)[name] === undefined) return true;
  return false;
}

/**
 * The document as it will be read back: a member that is undefined is not stored, and would otherwise keep its place among
 * the others until then. So it does not matter to the bytes whether a document was stored between two events.
 */
export function settled<Document extends object>(document: Document | null): Document | null {
  if (document === null || !hasUndefined(document)) return document;
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined)) as Document;
}

/**
 * What a batch of events makes of the documents it touches. An event at or below a document's revision was applied before,
 * by this process or by another one that kept the view meanwhile.
 */
export async function projectBatch<Document extends object>(
  {
    view,
    readStore,
    idOf,
    reduce,
  }: Pick<Projected<Document>, 'view' | 'idOf' | 'reduce'> & { readonly readStore: ReadStore },
  events: readonly RecordedEvent[],
): Promise<DocumentWrite<Document>[]> {
  const about = events.flatMap((event) => {
    const id = idOf(event);
    return id === null ? [] : [{ id, event }];
  });
  if (about.length === 0) return [];
  const stored = await readStore.load(view, [...new Set(about.map(({ id }) => id))]);
  const writes = new Map<string, DocumentWrite<Document>>();
  for (const { id, event } of about) {
    const current = writes.get(id) ?? stored.get(id);
    if (current !== undefined && event.position <= current.revision) continue;
    const before = current?.document ?? null;
    const document = reduce(before, event);
    if (document === before) continue;
    writes.set(id, { id, revision: event.position, document: settled(document) });
  }
  return [...writes.values()];
}
