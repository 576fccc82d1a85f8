/** The connection of a process to the member that leads: its calls with an end in time, and patience while the server is away. */
import { BACKWARDS, END, ErrorType, isCommandError, type RecordedEvent as EngineEvent } from '@eventstore/db-client';
import { sleep } from '#concurrency/sleep';
import { withTimeout } from '#concurrency/timeout';
import { unavailable } from '#runtime/errors';
import {
  AddressFault,
  parseEventStoreAddress,
  type Endpoint,
  type EventStoreAddress,
} from '#runtime/event-store-address';
import { createDiscovery } from './eventstoredb-discovery.js';
import { breaksConnection, isOutage, isTimeout, Lost, namedLeader, refusalOf } from './eventstoredb-errors.js';
import { askMember, createAccess, openSession, type Access, type Session } from './eventstoredb-session.js';

/** How long one call may take, and how long callers wait for a server that went away to come back. */
export const patienceMs = 5_000;
const firstPauseMs = 50;
const longestPauseMs = 500;
/** Less time than this tells nothing. */
const shortestTryMs = 1_000;

interface ReadStream<E> extends AsyncIterable<E> {
  cancel(): Promise<void>;
  destroy(): void;
}

/** Settles as the promise does, or rejects with `Lost` when the time is up. */
export const within = <T>(milliseconds: number, what: string, promise: Promise<T>): Promise<T> =>
  withTimeout(promise, milliseconds, () => new Lost(`${what}: no answer within ${milliseconds} ms`));

/** Throws in words for the operator, without the address: it may hold a password. */
function readAddress(url: string): EventStoreAddress {
  try {
    return parseEventStoreAddress(url);
  } catch (error) {
    if (error instanceof AddressFault) throw new Error(`EVENT_STORE_URL cannot be used: it ${error.message}`);
    throw error;
  }
}

function readFiles(address: EventStoreAddress, connectionName: string): Access {
  try {
    return createAccess(address, connectionName);
  } catch (error) {
    throw new Error(`EVENT_STORE_URL cannot be used: ${String(error)}`, { cause: error });
  }
}

/** Settles as the promise does, or rejects with what the session was left for. */
async function whileOn<T>(session: Session, promise: Promise<T>): Promise<T> {
  const left = Promise.withResolvers<never>();
  const leave = (): void => left.reject(new Lost('the connection was given up', session.signal.reason));
  session.signal.addEventListener('abort', leave, { once: true });
  if (session.signal.aborted) leave();
  try {
    return await Promise.race([promise, left.promise]);
  } finally {
    session.signal.removeEventListener('abort', leave);
  }
}

/** `connectionName`: as the server's own lists of connections show it. */
export function createConnection(url: string, connectionName = 'meerkat') {
  const address = readAddress(url);
  const access = readFiles(address, connectionName);
  const ending = new AbortController();
  const discovery = createDiscovery({
    seeds: address.seeds,
    gossipTimeoutMs: Math.min(address.gossipTimeoutMs, patienceMs),
    intervalMs: address.discoveryIntervalMs,
    ask: (member, milliseconds) => askMember(access, member, milliseconds),
    isRefusal: (error) => refusalOf(error) !== null,
    isTimeout,
  });
  let current: Promise<Session> | null = null;
  /** Whom the one node that is named in the address named as leader. */
  let named: Endpoint | null = null;
  let awaySinceMs: number | null = null;

  const closedError = () =>
    unavailable('event_store_unavailable', 'The event store is closed; try again after the restart.');

  const endpoint = async (): Promise<Endpoint> => {
    if (address.isCluster) return discovery.leader(patienceMs, ending.signal);
    const [only] = address.seeds;
    const chosen = named ?? only;
    named = null;
    if (chosen === undefined) throw new Lost('an address without a host');
    return chosen;
  };

  const open = async (forget: () => void): Promise<Session> => {
    const found = await endpoint();
    if (ending.signal.aborted) throw closedError();
    return openSession(access, found, { mustLead: address.isCluster, left: forget });
  };

  /** Of now; rejects with `NoLeader` where nobody leads. */
  const session = (): Promise<Session> => {
    if (current !== null) return current;
    const forget = (): void => {
      if (current === opening) current = null;
    };
    const opening: Promise<Session> = open(() => forget());
    current = opening;
    opening.catch(forget);
    return opening;
  };

  /** The session, or `Lost` with the reason of the last round that failed: the present one may hang until after the time is up. */
  const sessionWithin = (milliseconds: number): Promise<Session> =>
    withTimeout(session(), milliseconds, () => {
      const why = discovery.lastFailure();
      const words = why === null ? '' : `; before: ${why.message}`;
      return new Lost(`finding the leader: no answer within ${milliseconds} ms${words}`, why ?? undefined);
    });

  /** What came of a call on a session: another one is taken where this one is of no use any more. */
  const report = (used: Session, error: unknown): void => {
    if (used.signal.aborted || !breaksConnection(error)) return;
    if (!address.isCluster) named = namedLeader(error)?.leader ?? null;
    used.leave(error instanceof Error ? error : new Lost(String(error)));
  };

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
        const refusal = refusalOf(error);
        if (refusal !== null) {
          throw unavailable('event_store_unavailable', `The event store refused: ${refusal.message}`, 30, error);
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
  const collect = async <E>(
    what: string,
    milliseconds: number,
    read: (used: Session) => ReadStream<E>,
    given?: Session,
  ): Promise<E[]> => {
    const startedAtMs = Date.now();
    const used = given ?? (await sessionWithin(milliseconds));
    const stream = read(used);
    try {
      const leftMs = Math.max(startedAtMs + milliseconds - Date.now(), 1);
      return await within(leftMs, what, whileOn(used, Array.fromAsync(stream)));
    } catch (error) {
      stream.cancel().catch(() => undefined);
      stream.destroy();
      if (error instanceof Error && isCommandError(error) && error.type === ErrorType.STREAM_NOT_FOUND) return [];
      report(used, error);
      throw error;
    }
  };

  return {
    signal: ending.signal,
    session,
    report,
    patiently,

    /** At most `count` events from a revision on, or the last one; one try. */
    async readPage(stream: string, from: bigint | 'last', count: number, milliseconds: number): Promise<EngineEvent[]> {
      const resolved = await collect(`reading ${stream}`, milliseconds, ({ client }) =>
        from === 'last'
          ? client.readStream(stream, { fromRevision: END, maxCount: 1, direction: BACKWARDS, requiresLeader: true })
          : client.readStream(stream, { fromRevision: from, maxCount: count, requiresLeader: true }),
      );
      return resolved.flatMap(({ event }) => event ?? []);
    },

    /** The place of the newest event of all, null where there is none; one try. */
    async lastPosition(milliseconds: number, given?: Session): Promise<bigint | null> {
      const read = ({ client }: Session) =>
        client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader: true });
      const [last] = await collect('reading the newest event', milliseconds, read, given);
      return last?.event?.position.commit ?? null;
    },

    async close(): Promise<void> {
      ending.abort();
      const opened = await current?.catch(() => null);
      opened?.leave(new Lost('the event store is closed'));
    },
  };
}

export type Connection = ReturnType<typeof createConnection>;
