/** The bus port: messages between services, at least once and in order per key, and requests with a deadline. */
import type { EventMetadata } from '#event-store/event-store';
import type { Json, JsonObject } from '#runtime/json';

export interface BusMessage {
  /** Derived from the event it tells of: the same message published twice carries the same id. */
  readonly id: string;
  readonly type: string;
  /** Messages of one key are handled one after the other. */
  readonly key: string;
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}

/** Who asks, for whom, since when: travels with each request and ends up in the metadata of the events it causes. */
export interface RequestContext {
  readonly organizationId: string;
  readonly actor: string;
  readonly requestId: string;
}

export interface ConsumeOptions {
  readonly topic: string;
  /** Each group sees every message once; members of a group share the work. */
  readonly group: string;
  /** Messages of different keys handled at once. */
  readonly concurrency: number;
  /** A handler that takes longer counts as failed. */
  readonly handlerTimeoutMs: number;
}

export interface Consumer {
  /** Takes no more messages, waits for those in hand, stores how far it came. */
  stop(): Promise<void>;
}

export type MessageHandler = (message: BusMessage) => Promise<void>;
export type RequestHandler = (payload: JsonObject, context: RequestContext) => Promise<Json>;

export interface Bus {
  /** Durable when it resolves. */
  publish(topic: string, messages: readonly BusMessage[]): Promise<void>;
  /** Hands over each message at least once. A handler that throws is tried again, then the message is parked. */
  consume(options: ConsumeOptions, handler: MessageHandler): Promise<Consumer>;
  /** Asks the one service that answers to `name`. Rejects with the answerer's AppError, or `deadline_exceeded`. */
  request(name: string, payload: JsonObject, context: RequestContext, deadlineMs?: number): Promise<Json>;
  /** Answers requests of that name. */
  respond(name: string, handler: RequestHandler): Promise<Consumer>;
  /** Messages given up on, newest first, for operators. */
  parked(topic: string, limit: number): Promise<readonly ParkedMessage[]>;
  close(): Promise<void>;
}

export interface ParkedMessage {
  readonly message: BusMessage;
  readonly topic: string;
  readonly group: string;
  readonly reason: string;
  readonly parkedAt: string;
}

/** Puts a message that was given up on record. Rejects where that cannot be done: the message is then given up again. */
export type RecordParked = (parked: ParkedMessage) => Promise<void>;

export const BUS = Symbol('Bus');

/** `() => Promise<boolean>`: whether messages go out and come in here now, for probes. */
export const BUS_HEALTH = Symbol('BusHealth');
