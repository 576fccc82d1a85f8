/** The read-store port: documents that answer questions. Derived from events, droppable, rebuilt to the same bytes. */
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
  /** An array field that holds the value. */
  | { readonly field: string; readonly has: string }
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

/** Where the documents themselves do not matter. */
export type AnyView = Omit<ViewDefinition, 'document'>;

export interface ReadStore {
  /** Writes documents and checkpoint in one step: all or nothing. `checkpoint` null leaves it as it is. */
  save<D extends object>(
    view: ViewDefinition<D>,
    writes: readonly DocumentWrite<D>[],
    checkpoint: number | null,
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

/** What a rebuild needs besides. */
export interface ViewKeeper {
  /** Drops documents and checkpoint. */
  reset(view: AnyView): Promise<void>;
}

export const READ_STORE = Symbol('ReadStore');
