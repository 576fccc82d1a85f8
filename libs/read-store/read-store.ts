/** The read-store port: documents that answer questions. Derived from events, droppable, rebuilt to the same bytes. */
import type { RecordedEvent } from '#event-store/event-store';
import { unavailable, type AppError } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';

/** A view's name, and the fields and indexes by which its documents are found. */
export interface ViewDefinition<Document extends object = JsonObject> {
  readonly name: string;
  /** Fields that filters and sorts name. Dots reach inside: `lastExecution.id`. */
  readonly fields: readonly string[];
  /** Fields of each index, in order. Every list has an index, so that none scans. */
  readonly indexes: readonly (readonly string[])[];
  /** Fields that hold lists and are part of an index: filters by what they hold. */
  readonly lists?: readonly string[];
  /** Fields with plain values: how many documents have the same ones is kept, for filters by any of them. */
  readonly totals?: readonly string[];
  /** Fields that are searched for a text. */
  readonly searched?: readonly string[];
  /** Its documents are many and seldom read: a store may keep them packed. */
  readonly isPacked?: true;
  /** Its documents change often: those that did last are remembered where nobody else writes them. */
  readonly isRemembered?: true;
  /** Sweeps alone read it, and those of who folds days: it may be further behind than others where many events come. */
  readonly isReadBySweeps?: true;
  /** Few operations read it, and say so: while it is built from a history, these alone wait. */
  readonly readByFew?: true;
  /** It is being built: nothing is kept of it but the documents. */
  readonly isBuild?: true;
  /** Never present: carries the type of the documents, so that readers need no assertion. */
  readonly document?: Document;
}

function withoutMemory<D extends object>({
  isRemembered: _isRemembered,
  ...view
}: ViewDefinition<D>): ViewDefinition<D> {
  return view;
}

/** The view under another name while it is built: it has one writer and no reader, and is given what lists need at its end. */
export const asBuilt = <D extends object>(view: ViewDefinition<D>, name: string): ViewDefinition<D> => ({
  ...withoutMemory(view),
  name,
  indexes: [],
  isBuild: true,
});

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
  /** For a field that is a list in every document: it contains the value. No other filter applies to lists. */
  | { readonly field: string; readonly has: string }
  /** Compares with values of the bounds' own type: texts between texts, numbers between numbers. */
  | { readonly field: string; readonly from?: string | number; readonly to?: string | number }
  /** Any of the fields contains the text, ignoring case. */
  | { readonly fields: readonly string[]; readonly contains: string };

export interface PageQuery {
  readonly where: readonly FieldFilter[];
  /** The id breaks ties, in the direction of the last field. */
  readonly sort: readonly { readonly field: string; readonly descending: boolean }[];
  readonly limit: number;
  /** Documents to skip. */
  readonly offset: number;
  /** Cursor: only documents after the one with these sort values and this id. */
  readonly behind?: { readonly values: readonly (string | number)[]; readonly id: string };
  /** Whether to compute `total`: counting is expensive. */
  readonly count: boolean;
}

export interface DocumentPage<Document extends object = JsonObject> {
  readonly documents: readonly Document[];
  /** How many match without limit and offset; null where the query did not count. */
  readonly total: number | null;
}

/** Identifies an event: a different one at its position means that the store was rewound. */
export type SeenEvent = Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'position'>;

/** What a view has seen of the events. */
export interface Seen {
  /** The checkpoint. */
  readonly position: number;
  /** The last event applied to it; null where it is unknown. */
  readonly event: SeenEvent | null;
}

/** A view whose document type does not matter. */
export type AnyView = Omit<ViewDefinition, 'document'>;

/** The reason of a store that answers and neither reads nor writes: its members have not agreed on one that does. */
export const noPrimary = 'read_store_has_no_primary';

/** The writer must reload and continue from the current checkpoint. */
export function viewOutOfStep(view: AnyView): AppError {
  return unavailable('view_out_of_step', `The view ${view.name} was kept or replaced by another process meanwhile.`);
}

export interface ReadStore {
  /**
   * Writes documents and checkpoint; `checkpoint` null leaves it as it is, and it never falls back. The checkpoint is never
   * ahead of the documents: an engine writes both in one step, or the documents first; then a crash leaves documents that
   * the same events, read again, do not change, because revisions guard them.
   *
   * `after` is the checkpoint that the writer loaded its documents at. Rejects with `view_out_of_step` where another writer
   * has moved the view in a way that these writes do not fit: a rebuilt view has replaced it, or, in a store that forgets
   * removed documents, it has advanced.
   *
   * `event` is the last event applied up to the checkpoint; without it the stored one stays.
   */
  save<D extends object>(
    view: ViewDefinition<D>,
    writes: readonly DocumentWrite<D>[],
    checkpoint: number | null,
    after?: number | null,
    event?: SeenEvent,
  ): Promise<void>;
  get<D extends object>(view: ViewDefinition<D>, id: string): Promise<D | null>;
  /** Documents with their revisions, by id: for writers. A store may remember the revision of a removed document. */
  load<D extends object>(
    view: ViewDefinition<D>,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, DocumentWrite<D>>>;
  page<D extends object>(view: ViewDefinition<D>, query: PageQuery): Promise<DocumentPage<D>>;
  /** The position up to which the view has seen the events; null where it has seen none. */
  checkpoint(view: AnyView): Promise<number | null>;
  close(): Promise<void>;
}

/** A request to build a view from stored events, under another name than the live one. */
export interface Backfill {
  readonly view: AnyView;
  readonly built: AnyView;
  /** Position of the last event to read. */
  readonly end: number;
  /** Called now and then with the position and the number of the view's events so far. Its rejection ends the backfill. */
  onProgress(position: number, events: number): Promise<void>;
  readonly signal: AbortSignal;
}

/** The build holds everything up to the position; `events` of them were the view's. */
export interface BackfillResult {
  readonly position: number;
  readonly events: number;
  /** What is still to be forgotten of it. */
  readonly forgotten: readonly ForgottenDocuments[];
}

/** Builds views from stored events outside the main event loop, faster than a subscription. Backfills that start together share one pass. */
export interface Backfiller {
  /** null where it could not be done; then `built` may hold a part. Rejects as `onProgress` does. */
  run(backfill: Backfill): Promise<BackfillResult | null>;
}

/** Documents that an event makes old: those that match, unless a later event has changed them. */
export interface ForgottenDocuments {
  readonly where: readonly FieldFilter[];
  /** The position of the event. */
  readonly revision: number;
}

/** Operations for projections and rebuilds. */
export interface ViewAdmin {
  /** null where this store has none: then every build follows a subscription. */
  readonly backfiller: Backfiller | null;
  /** What the view has seen; null where it has seen nothing. */
  seen(view: AnyView): Promise<Seen | null>;
  /** Creates the indexes of `view` on `built`. May take long; a build without indexes costs less than half. */
  index(view: AnyView, built: AnyView): Promise<void>;
  /**
   * Removes documents for good, some at a time, so that nobody waits for it: of a view that is being built once it has its
   * indexes. A crash in the middle leaves some; the same again goes on.
   */
  forget(view: AnyView, documents: ForgottenDocuments): Promise<void>;
  /**
   * What was removed so far stands in no file any more that this process writes. A store on a server leaves it to the server
   * when it writes over what is free.
   */
  scrub(): Promise<void>;
  /** Drops documents and checkpoint. */
  reset(view: AnyView): Promise<void>;
  /**
   * Puts `built` in the place of `view`, documents and checkpoint, for every process at once; its own name is free again.
   * Missing indexes are created first. After a crash `view` is either the old or the new one, whole. Rejects with
   * `view_out_of_step`, and changes nothing, where `built` has seen less.
   */
  replace(view: AnyView, built: AnyView): Promise<void>;
}

export interface ViewStore extends ReadStore, ViewAdmin {}

export const READ_STORE = Symbol('ReadStore');
