/** The one client of a process: its address, its calls with an end in time, and patience while the server is away. */
import {
  BACKWARDS,
  END,
  ErrorType,
  EventStoreDBClient,
  isCommandError,
  type RecordedEvent as EngineEvent,
} from '@eventstore/db-client';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { sleep } from '#concurrency/sleep';
import { withTimeout } from '#concurrency/timeout';
import { unavailable } from '#runtime/errors';

/** How long one call may take, and how long callers wait for a server that went away to come back. */
export const patienceMs = 5_000;
const firstPauseMs = 50;
const longestPauseMs = 500;
/** Less time than this tells nothing. */
const shortestTryMs = 1_000;

/** What the client's own commands stand on; its types hide it from all but subclasses, and `connectionString` makes none. */
interface ClientCore {
  getGRPCClient(service: typeof streamServices.StreamsClient, name: string): Promise<StreamsClient>;
  getChannel(): Promise<{ close(): void }>;
  callArguments(options: object, callOptions: { readonly deadline: number }): Parameters<StreamsClient['batchAppend']>;
  /** Takes another channel, to the leader that the error names or to whom discovery finds. */
  handleError(client: StreamsClient, error: Error): Promise<void>;
}

/** A call that took too long, or was cut off: what it did is not known. */
export class Lost extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, cause === undefined ? undefined : { cause });
    this.name = 'Lost';
  }
}

/** What another try will not mend: access refused, a stream deleted behind our back, an argument the server does not take. */
export class Refused extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, cause === undefined ? undefined : { cause });
    this.name = 'Refused';
  }
}

/** gRPC's word for, among others, a position where no event begins. */
const invalidArgument = 3;

const refusals: ReadonlySet<ErrorType> = new Set([
  ErrorType.ACCESS_DENIED,
  ErrorType.STREAM_DELETED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
]);

export function isRefusal(error: unknown): error is Error {
  return (
    error instanceof Refused ||
    (error instanceof Error && isCommandError(error) && (refusals.has(error.type) || error.code === invalidArgument))
  );
}

/** Everything that says: the server is not there, or not now. The rest is a defect. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof Refused) return false;
  if (isCommandError(error)) return !isRefusal(error);
  // Of the transport, and of a discovery that found nobody.
  return error instanceof Lost || 'code' in error || error.message.startsWith('Failed to discover');
}

interface ReadStream<E> extends AsyncIterable<E> {
  cancel(): Promise<void>;
  destroy(): void;
}

/** Settles as the promise does, or rejects with `Lost` when the time is up. */
export const within = <T>(milliseconds: number, what: string, promise: Promise<T>): Promise<T> =>
  withTimeout(promise, milliseconds, () => new Lost(`${what}: no answer within ${milliseconds} ms`));

/** The client's words for an address; other names of the same protocol are put into them. Throws without telling the address, which may hold a password. */
function openClient(url: string): EventStoreDBClient {
  const address = url.replace(/^kurrentdb(\+discover)?:/, 'esdb$1:');
  try {
    return EventStoreDBClient.connectionString(address);
  } catch {
    throw new Error('EVENT_STORE_URL cannot be used: it must look like esdb://user:password@host:2113?tls=true');
  }
}

export function createConnection(url: string) {
  const client = openClient(url);
  const core = client as unknown as ClientCore;
  const ending = new AbortController();
  let awaySinceMs: number | null = null;

  const closedError = () =>
    unavailable('event_store_unavailable', 'The event store is closed; try again after the restart.');

  /**
   * Tries until it works or patience ends; a try is told how long it may take. In a long outage one try is enough:
   * nobody is kept waiting for what is not there.
   */
  const patiently = async <T>(attempt: (milliseconds: number) => Promise<T>): Promise<T> => {
    const startedMs = Date.now();
    const isLongAway = awaySinceMs !== null && startedMs - awaySinceMs > patienceMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      if (ending.signal.aborted) throw closedError();
      try {
        const result = await attempt(Math.max(startedMs + patienceMs - Date.now(), shortestTryMs));
        awaySinceMs = null;
        return result;
      } catch (error) {
        if (ending.signal.aborted) throw closedError();
        if (isRefusal(error)) {
          throw unavailable('event_store_unavailable', `The event store refused: ${error.message}`, 30, error);
        }
        if (!isOutage(error)) throw error;
        awaySinceMs ??= startedMs;
        if (isLongAway || Date.now() + pauseMs - startedMs > patienceMs) {
          throw unavailable('event_store_unavailable', 'The event store does not answer; try again.', 5, error);
        }
      }
      await sleep(pauseMs, ending.signal);
    }
  };

  /** Everything that the call brings, which must be little. The call is ended in any case: left alone it would stay open for ever. */
  const collect = async <E>(what: string, milliseconds: number, stream: ReadStream<E>): Promise<E[]> => {
    try {
      return await within(milliseconds, what, Array.fromAsync(stream));
    } catch (error) {
      stream.cancel().catch(() => undefined);
      stream.destroy();
      if (error instanceof Error && isCommandError(error) && error.type === ErrorType.STREAM_NOT_FOUND) return [];
      throw error;
    }
  };

  return {
    client,
    signal: ending.signal,
    patiently,

    /** At most `count` events from a revision on, or the last one; one try. */
    async readPage(stream: string, from: bigint | 'last', count: number, milliseconds: number): Promise<EngineEvent[]> {
      const read =
        from === 'last'
          ? client.readStream(stream, { fromRevision: END, maxCount: 1, direction: BACKWARDS })
          : client.readStream(stream, { fromRevision: from, maxCount: count });
      const resolved = await collect(`reading ${stream}`, milliseconds, read);
      return resolved.flatMap(({ event }) => event ?? []);
    },

    /** The place of the newest event of all, null where there is none; one try. */
    async lastPosition(milliseconds: number): Promise<bigint | null> {
      const read = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 });
      const [last] = await collect('reading the newest event', milliseconds, read);
      return last?.event?.position.commit ?? null;
    },

    /** The long call on which appends go, and how to tell the client that it broke. */
    async openAppends() {
      const grpc = await within(patienceMs, 'connecting', core.getGRPCClient(streamServices.StreamsClient, 'appends'));
      const call = grpc.batchAppend(...core.callArguments({}, { deadline: Infinity }));
      const broken = (error: Error): void => {
        core.handleError(grpc, error).catch(() => undefined);
      };
      return { call, broken };
    },

    async close(): Promise<void> {
      ending.abort();
      const closing = async (): Promise<void> => {
        await client.dispose();
        (await core.getChannel()).close();
      };
      await within(patienceMs, 'closing', closing()).catch(() => undefined);
    },
  };
}

export type Connection = ReturnType<typeof createConnection>;
