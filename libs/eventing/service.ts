/** A service as a value: what it derives, publishes, consumes, answers and repeats. `runService` starts and drains it. */
import type { BusMessage, ConsumeOptions, MessageHandler, RequestContext } from '#bus/bus';
import type { RecordedEvent } from '#event-store/event-store';
import type { Projected } from './projected.js';
import type { DocumentWrite } from '#read-store/read-store';
import type { JsonObject } from '#runtime/json';

/** One view that the service keeps. */
export interface Projection extends Projected<object> {
  /** Called after each write, with what was written. */
  saved?(writes: readonly DocumentWrite<object>[]): void;
}

/** Which of its events others hear of, and how. */
export interface Publication {
  readonly prefixes: readonly string[];
  readonly topic: string;
  /** `[]`: nothing. */
  toMessages(event: RecordedEvent): readonly BusMessage[];
}

export interface MessageConsumer extends ConsumeOptions {
  readonly handle: MessageHandler;
}

/** The message that a request means, for its handler; throws where the payload is not what the request takes. */
type ToMessage = (payload: JsonObject, context: RequestContext) => object;

/** What a request becomes: a command where it changes something, else a query. Its handler's result is the answer. */
export type Responder = { readonly request: string } & (
  { readonly command: ToMessage } | { readonly query: ToMessage }
);

/** Done again and again, by one process at a time. */
export interface Sweep {
  /** Of its lease. */
  readonly name: string;
  readonly everyMs: number;
  /** From the start to the first one, where that is sooner. */
  readonly firstAfterMs?: number;
  /** What it rejects with is logged; the next sweep tries again. */
  sweep(): Promise<void>;
}

/** Work of its own kind that runs until it is stopped: a timer, a worker. */
export interface BackgroundWork {
  /** Ends it and waits for its end. */
  stop(): Promise<void>;
}

export interface Service {
  /** Names the checkpoint of its publication. */
  readonly name: string;
  readonly projections: readonly Projection[];
  readonly publication?: Publication;
  readonly consumers?: readonly MessageConsumer[];
  readonly responders?: readonly Responder[];
  readonly sweeps?: readonly Sweep[];
  /** Each starts one piece of background work. */
  readonly background?: readonly (() => BackgroundWork)[];
  /** Awaited once all of it runs, before the process is ready. */
  ready?(): Promise<void>;
  /** Awaited once nothing of it runs any more. */
  closed?(): Promise<void>;
}

/** The one service that a module brings: `ServiceRunner` beside it runs it. */
export const SERVICE = Symbol('Service');
