/** The read-store port: documents that answer questions. Derived from events, droppable, rebuilt to the same bytes. */
import type { JsonObject } from '#runtime/json';

/** What a view keeps and which of its documents' top-level fields are searched or sorted by. */
export interface ViewDefinition {
  readonly name: string;
  /** Fields that filters and sorts name. Dots reach inside: `lastExecution.id`. */
  readonly fields: readonly string[];
  /** Sets of fields that are looked up together, in order. Every list has one, so that none scans. */
  readonly indexes: readonly (readonly string[])[];
}

export interface DocumentWrite {
  readonly id: string;
  /** The position of the event that made it. A write at or below the stored revision changes nothing. */
  readonly revision: number;
  /** null removes the document. */
  readonly document: JsonObject | null;
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

export interface DocumentPage {
  readonly documents: readonly JsonObject[];
  /** How many match without limit and offset; null where it was not asked for. */
  readonly total: number | null;
}

export interface ReadStore {
  /** Writes documents and checkpoint in one step: all or nothing. `checkpoint` null leaves it as it is. */
  save(view: ViewDefinition, writes: readonly DocumentWrite[], checkpoint: number | null): Promise<void>;
  get(view: ViewDefinition, id: string): Promise<JsonObject | null>;
  page(view: ViewDefinition, query: PageQuery): Promise<DocumentPage>;
  /** Up to which position the view has seen the events; null where it has seen none. */
  checkpoint(view: ViewDefinition): Promise<number | null>;
  /** Drops documents and checkpoint. */
  reset(view: ViewDefinition): Promise<void>;
  close(): Promise<void>;
}

export const READ_STORE = Symbol('ReadStore');
