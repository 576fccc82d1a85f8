/** The bus port: messages between services, at least once and in order per key, and requests with a deadline. */
import type { EventMetadata } from '#event-store/event-store';
import type { Json, JsonObject } from '#runtime/json';

export interface BusMessage {
  /** Derived from the event it carries: the same message published twice has the same id. */
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
  /** What the group has to do with; messages of other types count as handled. Absent: all of them. */
  readonly types?: readonly string[];
}

export interface Consumer {
  /** Takes no more messages, waits for those being handled, stores how far it came. */
  stop(): Promise<void>;
}

/**
 * `stopping` is aborted once the consumer stops: a handler that rejects from then on gets the message again after the next
 * start, or another process does.
 */
export type MessageHandler = (message: BusMessage, stopping: AbortSignal) => Promise<void>;
export type RequestHandler = (payload: JsonObject, context: RequestContext) => Promise<Json>;

/** What services use. */
export interface Bus {
  /** Durable when it resolves. */
  publish(topic: string, messages: readonly BusMessage[]): Promise<void>;
  /** Hands over each message at least once. A handler that throws is tried again, then the message is a dead letter. */
  consume(options: ConsumeOptions, handler: MessageHandler): Promise<Consumer>;
  /** Asks the one service that responds to `name`. Rejects with the responder's AppError, or `deadline_exceeded`. */
  request(name: string, payload: JsonObject, context: RequestContext, deadlineMs?: number): Promise<Json>;
  /** Answers requests of that name. */
  respond(name: string, handler: RequestHandler): Promise<Consumer>;
  /**
   * Hands messages to their consumers without storing them, where all consumers are in this process; else null. For messages
   * that are derived from what is stored elsewhere, by a publisher that hands over again what was not settled when it ended.
   */
  readonly relay: Relay | null;
}

/**
 * Resolves once the messages are on their way and there is room for more, which may be never where the consumers stop.
 * `settled` is called once each group has handled or set aside all of them.
 */
export type Relay = (
  topic: string,
  messages: readonly BusMessage[],
  settled: () => void,
  signal: AbortSignal,
) => Promise<void>;

/** `no_leader`: a server answers, and of some messages none may write. `not_joined`: this process gets none of them. */
export type BusHealth = 'ok' | 'unreachable' | 'no_leader' | 'not_joined';

/** What the process that opened the bus uses, and operators. */
export interface BusAdmin {
  /** Messages given up on, newest first. */
  deadLetters(topic: string, limit: number): Promise<readonly DeadLetter[]>;
  /**
   * Resolves once every consumer and responder so far has its share of the messages, and the answers to requests come in, or
   * it has waited long enough for that; it is then tried on in the background. One wait for all at once: each group takes its
   * time to admit a member.
   */
  ready(): Promise<void>;
  /** Whether messages go out and come in here now. Never rejects. */
  health(): Promise<BusHealth>;
  /** Every consumer begins to stop, all at the same time; each is still stopped where it was started. */
  drain(): void;
  close(): Promise<void>;
}

/** What an adapter opens. */
export type OpenedBus = Bus & BusAdmin;

/** The type of the message that stands for one that cannot be read. */
export const unreadableType = 'unreadable';

export interface DeadLetter {
  readonly message: BusMessage;
  readonly topic: string;
  readonly group: string;
  readonly reason: string;
  readonly at: string;
}

/** Puts a dead letter on record. Rejects where that cannot be done now. */
export type RecordDeadLetter = (letter: DeadLetter) => Promise<void>;

export const BUS = Symbol('Bus');
export const BUS_ADMIN = Symbol('BusAdmin');
