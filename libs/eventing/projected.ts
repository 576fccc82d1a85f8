/** The definition of a projection, and how a batch of events changes documents. */
import type { RecordedEvent } from '#event-store/event-store';
import { isJsonObject, type JsonObject } from '#runtime/json';
import type { Step, Sums } from './sums.js';
import type { DocumentWrite, FieldFilter, ReadStore, ViewDefinition } from '#read-store/read-store';

/** A view and the pure functions that derive it from events. */
export interface Projected<Document extends object = JsonObject> {
  readonly view: ViewDefinition<Document>;
  /** Prefixes of the streams it reads. */
  readonly prefixes: readonly string[];
  /** Which document an event is about; null: none. */
  idOf(event: RecordedEvent): string | null;
  /** The document after the event; null removes it. Pure: no clock, no randomness, so that a rebuild gives the same bytes. */
  reduce(document: Document | null, event: RecordedEvent): Document | null;
  /**
   * Other documents that go with the event, as those of a day that was folded: what matches all filters of one of the lists,
   * which compare by `equals` and `to` alone. Whether the events that made them are still there must make no difference.
   */
  forgets?(event: RecordedEvent): readonly (readonly FieldFilter[])[];
  /** Documents that go with the event, by their ids, so that sums know what goes. */
  removes?(event: RecordedEvent): readonly string[];
  /** Documents of the view that add up others. */
  readonly sums?: Sums<Document>;
}

/** What an event does to one document. */
export interface About {
  readonly id: string;
  readonly event: RecordedEvent;
  /** It goes. */
  readonly goes: boolean;
}

/** The documents that events are about, in order. */
export function aboutEach<Document extends object>(
  { idOf, removes }: Pick<Projected<Document>, 'idOf' | 'removes'>,
  events: readonly RecordedEvent[],
): About[] {
  const about: About[] = [];
  for (const event of events) {
    const id = idOf(event);
    if (id !== null) about.push({ id, event, goes: false });
    for (const gone of removes?.(event) ?? []) about.push({ id: gone, event, goes: true });
  }
  return about;
}

function valueAt(document: object, field: string): unknown {
  return field.split('.').reduce<unknown>((value, part) => (isJsonObject(value) ? value[part] : undefined), document);
}

/** Whether a document would be forgotten; for documents in memory. */
export function isForgotten(document: object, where: readonly FieldFilter[]): boolean {
  return where.every((filter) => {
    if (!('field' in filter)) throw new Error('documents are forgotten by their fields');
    const value = valueAt(document, filter.field) ?? null;
    if ('equals' in filter) return value === filter.equals;
    if (!('to' in filter) || filter.to === undefined) throw new Error('documents are forgotten by `equals` and `to`');
    return typeof value === typeof filter.to && value !== null && (value as string) <= (filter.to as string);
  });
}

function hasUndefined(document: object): boolean {
  for (const name in document) if ((document as JsonObject)[name] === undefined) return true;
  return false;
}

/**
 * The document without undefined members, as it will be read back: they would otherwise keep their place in the order of
 * members. So the bytes do not depend on whether a document was stored between two events.
 */
export function settled<Document extends object>(document: Document | null): Document | null {
  if (document === null || !hasUndefined(document)) return document;
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined)) as Document;
}

/** The writes that a batch of events causes, each change of a document told. Skips events at or below a document's revision: this or another process applied them. */
export async function projectBatch<Document extends object>(
  {
    view,
    readStore,
    reduce,
    ...projected
  }: Pick<Projected<Document>, 'view' | 'idOf' | 'reduce' | 'removes'> & { readonly readStore: ReadStore },
  events: readonly RecordedEvent[],
  changed?: (step: Step<Document>) => void,
): Promise<DocumentWrite<Document>[]> {
  const about = aboutEach(projected, events);
  if (about.length === 0) return [];
  const stored = await readStore.load(view, [...new Set(about.map(({ id }) => id))]);
  const writes = new Map<string, DocumentWrite<Document>>();
  for (const { id, event, goes } of about) {
    const current = writes.get(id) ?? stored.get(id);
    if (current !== undefined && event.position <= current.revision) continue;
    const before = current?.document ?? null;
    const document = goes ? null : reduce(before, event);
    if (document === before) continue;
    const after = settled(document);
    writes.set(id, { id, revision: event.position, document: after });
    changed?.({ revision: event.position, before, after });
  }
  return [...writes.values()];
}
