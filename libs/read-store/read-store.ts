/** The read-store port: documents that answer questions. Derived from events, droppable, rebuilt to the same bytes. */
import type { RecordedEvent } from '#event-store/event-store';
import { unavailable, type AppError } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';

/** What a view keeps and which of its documents' top-level fields are searched or sorted by. */
export interface ViewDefinition<Document extends object = JsonObject> {
  readonly name: string;
  /** Fields that filters and sorts name. Dots reach inside: `lastExecution.id`. */
  readonly fields: readonly string[];
  /** Sets of fields that are looked up together, in order. Every list has one, so that none scans. */
  readonly indexes: readonly (readonly string[])[];
  /** Never there: carries the type of the documents, so that who reads a view need not assert it. */
  readonly document?: Document;
}

export interface DocumentWrite<Document extends object = JsonObject> {
  readonly id: string;
  /** The position of the event that made it. A write at or below the stored revision changes nothing. */
  readonly revision: number;
  /** null removes the document. */
  readonly document: Document | null;
}

export type FieldFilter =
  | { readonly field: string; readonly equals: string | number | boolean | null }
  | { readonly field: string; readonly oneOf: readonly (string | number)[] }
  /** Of a field that is a list in every document: that it holds the value. No other filter is for lists. */
  | { readonly field: string; readonly has: string }
  /** Values of the bounds' own kind: texts between texts, numbers between numbers. */
  | { readonly field: string; readonly from?: string | number; readonly to?: string | number }
  /** Any of the fields holds the text, whatever its case. */
  | { readonly fields: readonly string[]; readonly contains: string };

export interface PageQuery {
  readonly where: readonly FieldFilter[];
  /** The id breaks ties, in the direction of the last field. */
  readonly sort: readonly { readonly field: string; readonly descending: boolean }[];
  readonly limit: number;
  /** Documents to pass over. */
  readonly offset: number;
  /** Cursor: only documents behind the one with these sort values and this id. */
  readonly behind?: { readonly values: readonly (string | number)[]; readonly id: string };
  /** Whether `total` is wanted: counting costs. */
  readonly count: boolean;
}

export interface DocumentPage<Document extends object = JsonObject> {
  readonly documents: readonly Document[];
  /** How many match without limit and offset; null where it was not asked for. */
  readonly total: number | null;
}

/** An event as it is known again: another one at its place means another history. */
export type SeenEvent = Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'position'>;

/** What a view has seen of the events. */
export interface Seen {
  /** The checkpoint. */
  readonly position: number;
  /** The last event that it was made of; null where none was told. */
  readonly event: SeenEvent | null;
}

/** Where the documents themselves do not matter. */
export type AnyView = Omit<ViewDefinition, 'document'>;

/** Tells a writer to go on from the checkpoint as it is now. */
export function viewOutOfStep(view: AnyView): AppError {
  return unavailable('view_out_of_step', `The view ${view.name} was kept or replaced by another process meanwhile.`);
}

export interface ReadStore {
  /**
   * Writes documents and checkpoint; `checkpoint` null leaves it as it is, and it never falls back. The checkpoint is never
   * ahead of the documents: an engine writes both in one step, or the documents first; then a crash leaves documents that
   * the same events, read again, do not change, because revisions guard them.
   *
   * `after` is for who made the writes of documents loaded before: up to where the view had seen the events, as far as that
   * writer knows. Rejects with `view_out_of_step` where another writer has changed that in a way that these writes do not
   * fit: a view that was built beside took its place, or, where a store forgets what was removed, went on without it.
   *
   * `event` is the last one up to the checkpoint that the view was made of; without it the one that is known stays.
   */
  save<D extends object>(
    view: ViewDefinition<D>,
    writes: readonly DocumentWrite<D>[],
    checkpoint: number | null,
    after?: number | null,
    event?: SeenEvent,
  ): Promise<void>;
  get<D extends object>(view: ViewDefinition<D>, id: string): Promise<D | null>;
  /** What is stored under these ids, by id, with revisions: for those who write. A store may remember the revision of a removed document. */
  load<D extends object>(
    view: ViewDefinition<D>,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, DocumentWrite<D>>>;
  page<D extends object>(view: ViewDefinition<D>, query: PageQuery): Promise<DocumentPage<D>>;
  /** Up to which position the view has seen the events; null where it has seen none. */
  checkpoint(view: AnyView): Promise<number | null>;
  close(): Promise<void>;
}

/** A view that is built beside another, as far as the events lie back. */
export interface Backfill {
  readonly view: AnyView;
  readonly built: AnyView;
  /** Position up to which. */
  readonly end: number;
  /** Called now and then with how far it is and how many events were for it. What it rejects with ends the build. */
  come(position: number, events: number): Promise<void>;
  readonly signal: AbortSignal;
}

/** Everything up to the position is in the build; so many events were for it. */
export interface BackfillResult {
  readonly position: number;
  readonly events: number;
}

/** What who keeps views needs besides. */
export interface ViewAdmin {
  /** What the view has seen; null where it has seen nothing. */
  seen(view: AnyView): Promise<Seen | null>;
  /** Makes the view's indexes on `built`, which may take long: who builds does so without, which costs less than half. */
  index(view: AnyView, built: AnyView): Promise<void>;
  /**
   * Only of a store that can do so beside everything else: makes what events that lie back make of the view, faster than who
   * follows them. Null where it could not, or need not; then `built` may hold some of it. Rejects as `come` does.
   */
  buildAhead?(build: Backfill): Promise<BackfillResult | null>;
  /** Drops documents and checkpoint. */
  reset(view: AnyView): Promise<void>;
  /**
   * Puts `built` in the place of `view`, documents and checkpoint, for every process at once; under its own name it is gone.
   * Indexes that are missing are made first. A crash leaves one of the two whole under `view`. Rejects with `view_out_of_step`, and changes nothing, where `built` has
   * seen less.
   */
  replace(view: AnyView, built: AnyView): Promise<void>;
}

/** For who keeps views. */
export interface ViewStore extends ReadStore, ViewAdmin {}

export const READ_STORE = Symbol('ReadStore');
