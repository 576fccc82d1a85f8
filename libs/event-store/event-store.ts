/** The event-store port: the only truth. Streams of events, appended at an expected revision, read and subscribed to. */
import type { JsonObject } from '#runtime/json';
import type { StoredHistory } from './event-chain.js';

/** Who did it and why: on every event from the first day, so that audit, replay and tracing need nothing else. */
export interface EventMetadata {
  readonly organizationId: string;
  /** `key:<id>`, `user:<id>` or `system:<service>`. */
  readonly actor: string;
  /** Correlation id of everything that follows from one request. */
  readonly requestId: string;
  /** Id of the event or message that led to this one; null where a person's request did. */
  readonly causationId: string | null;
  /** When it happened, RFC 3339. */
  readonly at: string;
}

export interface NewEvent {
  /** UUID. Appending the same ids again at the same expected revision is answered as the first time. */
  readonly id: string;
  readonly type: string;
  /** Version of the data's schema, from 1. */
  readonly version: number;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}

export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  /** Place in its stream, from 0, without gaps. */
  readonly revision: number;
  /** Place among all events; grows, may have gaps. */
  readonly position: number;
  /** What it held is gone for good, and `data` is empty: only who asks for such events gets them. */
  readonly isPurged?: true;
}

/** `none`: the stream must not exist yet. A number: the revision of its last event. */
export type ExpectedRevision = number | 'none';

export type AppendResult =
  | { readonly ok: true; readonly revision: number; readonly position: number }
  /** Somebody else appended first; nothing was written. `revision` is null where the stream does not exist. */
  | { readonly ok: false; readonly revision: number | null };

export interface EventBatch<Event = RecordedEvent> {
  readonly events: readonly Event[];
  /** Everything up to here was handed over: the checkpoint to store once the events are handled. */
  readonly position: number;
}

export interface Subscription {
  /** Names of streams begin with one of these (`task-`). */
  readonly prefixes: readonly string[];
  /** Resume after this position; null begins with the first event. */
  readonly after: number | null;
  readonly signal: AbortSignal;
  /** Events whose contents are gone for good come too, without data. A store that does not open events hands over all. */
  readonly includesPurged?: boolean;
}

export type ReadOptions = Pick<Subscription, 'includesPurged'>;

export interface EventStore {
  /** Durable when it resolves. Rejects with `event_store_unavailable` where it could not be written: then nothing was. */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult>;
  /** A stream's events from a revision on, oldest first; an unknown stream has none. */
  read(stream: string, fromRevision?: number, options?: ReadOptions): AsyncIterable<RecordedEvent>;
  /** The last event of a stream, or null. */
  readLast(stream: string): Promise<RecordedEvent | null>;
  /** Batches in order of position, first what is there, then what comes, until the signal aborts. Each event at least once. */
  subscribe(subscription: Subscription): AsyncIterable<EventBatch>;
  /**
   * A position at or behind that of every event there is; null where there is none. A subscriber is told once he has come
   * so far, even if nothing on the way was for him.
   */
  lastPosition(): Promise<number | null>;
  close(): Promise<void>;
}

/** One append among others that must stand behind one another. */
export interface StreamAppend {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expected: ExpectedRevision;
}

/** For who folds days: events that have gone into a record of their own need not stay. */
export interface StreamTruncation {
  /**
   * Drops a stream's events below the revision, for good, in the order of their revisions; the last one of a stream always
   * stays. Once it resolves no stream reader is handed them; a follower of all events may still be, until the engine has
   * cleaned up. The same again changes nothing. Rejects with `event_store_unavailable`: then some may be gone.
   */
  truncate(stream: string, before: number): Promise<void>;
}

/** Streams as they are stored, what belongs to a task sealed: for who folds days. */
export interface StoredStreams extends StreamTruncation {
  read(stream: string, fromRevision?: number): AsyncIterable<RecordedEvent>;
  /** The same events opened; those whose contents are gone for good have no data. */
  open(events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]>;
}

export const STORED_STREAMS = Symbol('StoredStreams');

/** What copying a whole store needs besides. */
export interface EventArchive extends EventStore, StreamTruncation {
  /**
   * Writes to several streams so that the order of positions is the order given. Whatever happens, what is written of them
   * are the first so many: ends with the first that is not taken, and the answers with that one. Rejects as `append` does.
   */
  appendInOrder(appends: readonly StreamAppend[]): Promise<readonly AppendResult[]>;
  /** What there is as it is stored, with the MACs. */
  readonly stored: StoredHistory;
  /**
   * Takes what the events of a stream up to this revision hold out of the store, for good. Where the engine can, they stand there
   * as before with `erasedData` in its place; else they are cut off, and their bytes stay until the engine tidies up. The same
   * again changes nothing. Rejects with `event_store_unavailable`.
   */
  erase(stream: string, upTo: number): Promise<void>;
}

export const EVENT_STORE = Symbol('EventStore');
/** The `EventArchive` with events as they are stored, sealed: for the audit, which covers them so. */
export const STORED_EVENTS = Symbol('StoredEvents');
