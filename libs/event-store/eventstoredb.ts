/** Event store on EventStoreDB or KurrentDB: streams named after the installation, appends on one long call, filtered catch-up subscriptions. */
import { createLru } from '#concurrency/lru';
import { unavailable } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import { createAppends, type EngineAppend } from './eventstoredb-appends.js';
import { createConnection, patienceMs } from './eventstoredb-connection.js';
import { Lost, refusalOf } from './eventstoredb-errors.js';
import {
  decodeEngineEvent,
  encodeEvents,
  engineStream,
  macOfEngineEvent,
  positionNumber,
  storedEngineEvent,
  type EngineEvent,
} from './eventstoredb-events.js';
import { follow } from './eventstoredb-subscription.js';
import { createEventChain, type StoredHistory } from './event-chain.js';
import type {
  AppendResult,
  EventArchive,
  ExpectedRevision,
  RecordedEvent,
  StreamAppend,
  Subscription,
} from './event-store.js';
import { readBeginning, truncateStream } from './eventstoredb-truncation.js';
import { readThrough } from './read-through.js';
import { createSharedSubscription, type SizedEvent } from './shared-subscription.js';

export interface EventStoreDbOptions {
  /** `esdb://…`, `esdb+discover://…`, and the same with `kurrentdb`. */
  readonly url: string;
  readonly installation: string;
  readonly logger: Logger;
  /** Of the installation: what is appended gets a MAC of it. Without one, as to copy or look, none. */
  readonly secretKey?: Uint8Array | null;
  /** A subscription that brings nothing for so long is begun again. */
  readonly silenceMs?: number;
}

const pageSize = 500;
/** Who reads a stream may want no more than one event of it, wherever that stands. */
const firstPageSize = 32;
/** Streams whose last MAC is known, from what was read or appended lately. */
const macsKept = 20_000;

interface KnownMac {
  readonly revision: number;
  /** null: the event has none. */
  readonly mac: string | null;
}

/** Rejects with `event_store_unavailable` where no server answers within some seconds. */
export async function createEventStoreDbEventStore({
  url,
  installation,
  logger,
  secretKey = null,
  silenceMs = 30_000,
}: EventStoreDbOptions): Promise<EventArchive> {
  const connection = createConnection(url);
  const appends = createAppends(connection);
  const { patiently, readPage } = connection;
  const recorded = (event: EngineEvent): RecordedEvent => decodeEngineEvent(installation, event);
  const chain = secretKey === null ? null : createEventChain(secretKey);
  const macs = createLru<string, KnownMac>(macsKept);

  /** Who appends has read the stream before, mostly: its last MAC is known then. */
  const remember = (stream: string, event: EngineEvent | undefined): void => {
    if (chain === null || event === undefined) return;
    macs.set(stream, { revision: Number(event.revision), mac: macOfEngineEvent(event) });
  };

  /** Of the event behind which an append is to stand. Where there is none such, the append will not be taken either. */
  const macBefore = async (stream: string, expected: ExpectedRevision): Promise<string | null> => {
    if (chain === null || expected === 'none') return null;
    const known = macs.get(stream);
    if (known?.revision === expected) return known.mac;
    const name = engineStream(installation, stream);
    const [event] = await patiently((milliseconds) => readPage(name, BigInt(expected), 1, milliseconds));
    return event === undefined ? null : macOfEngineEvent(event);
  };

  /** Whether an append whose answer was lost is there. null: it is not, and may yet come. */
  const lookFor = async ({ stream, events, expected }: EngineAppend): Promise<AppendResult | null> => {
    const from = expected === 'none' ? 0 : expected + 1;
    const found = await readPage(stream, BigInt(from), events.length, patienceMs);
    if (found.length === 0) return null;
    const last = found.at(-1);
    const isOurs = found.length === events.length && found.every(({ id }, index) => id === events[index]?.id);
    if (isOurs && last?.position !== undefined) {
      return { ok: true, revision: Number(last.revision), position: positionNumber(last.position.commit) };
    }
    const [newest] = await readPage(stream, 'last', 1, patienceMs);
    return { ok: false, revision: newest === undefined ? null : Number(newest.revision) };
  };

  const positionOf = async (stream: string, revision: bigint): Promise<bigint> => {
    const [event] = await readPage(stream, revision, 1, patienceMs);
    if (event?.position === undefined) throw new Lost(`${stream}@${revision} was written and cannot be read`);
    return event.position.commit;
  };

  const appendOnce = async (append: EngineAppend, milliseconds: number): Promise<AppendResult> => {
    const answer = await appends.append(append, milliseconds);
    if (!answer.ok) return { ok: false, revision: answer.revision === null ? null : Number(answer.revision) };
    const commit = answer.commit ?? (await positionOf(append.stream, answer.revision));
    return { ok: true, revision: Number(answer.revision), position: positionNumber(commit) };
  };

  try {
    await connection.lastPosition(patienceMs);
  } catch (error) {
    await connection.close();
    const refusal = refusalOf(error);
    const why = refusal === null ? `does not answer: ${String(error)}` : `refused: ${refusal.message}`;
    throw unavailable('event_store_unavailable', `The event store ${why}`, 5, error);
  }

  /** `isCopy`: the same ids always are the same events. */
  const write = async (wanted: StreamAppend, isCopy: boolean): Promise<AppendResult> => {
    const { stream, expected } = wanted;
    const events = encodeEvents(wanted, chain, await macBefore(stream, expected));
    const append = { stream: engineStream(installation, stream), events, expected };
    macs.delete(stream);
    const result = await patiently(async (milliseconds) => {
      try {
        return await appendOnce(append, milliseconds);
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        // It may be there. If not, another try with the same ids does no harm should the first one still arrive.
        const found = await lookFor(append);
        if (found === null) throw error;
        return found;
      }
    });
    // Of others it is not known: the same ids may have stood there already, with another time and so another MAC.
    if (isCopy && result.ok) macs.set(stream, { revision: result.revision, mac: events.at(-1)?.mac ?? null });
    return result;
  };

  const stored: StoredHistory = {
    // The server tells the place of an event once that is written.
    hasDensePositions: false,
    async *read(after, end) {
      const decode = (event: EngineEvent) => storedEngineEvent(installation, event);
      const following = { connection, installation, logger, silenceMs, decode };
      const store = { subscribe: (subscription: Subscription) => follow(following, subscription) };
      for await (const { events } of readThrough(store, { after, end })) yield events;
    },
    beginning: (stream) => patiently((milliseconds) => readBeginning(connection, installation, stream, milliseconds)),
    // Positions have gaps anyway.
    async *beginnings() {
      yield* [];
    },
    async at(stream, revision) {
      const name = engineStream(installation, stream);
      const [event] = await patiently((milliseconds) => readPage(name, BigInt(revision), 1, milliseconds));
      // Of a stream that was cut off at its beginning the server hands over the first that there is.
      return event === undefined || Number(event.revision) !== revision ? null : storedEngineEvent(installation, event);
    },
  };

  const lastPosition = async (): Promise<number | null> => {
    const newest = await patiently((milliseconds) => connection.lastPosition(milliseconds));
    return newest === null ? null : positionNumber(newest);
  };

  const decodeSized = (engineEvent: EngineEvent): SizedEvent => {
    const event = recorded(engineEvent);
    return { event, position: event.position, characters: engineEvent.sizeBytes ?? 0 };
  };
  const shared = createSharedSubscription({
    lastPosition,
    logger,
    follow: (subscription) =>
      follow({ connection, installation, logger, silenceMs, decode: decodeSized }, subscription),
  });

  const truncate = (stream: string, before: number): Promise<void> =>
    patiently((milliseconds) =>
      truncateStream({ connection, appends, installation, chain }, { stream, before }, milliseconds),
    );

  return {
    stored,

    append: (stream, events, expected) => write({ stream, events, expected }, false),

    truncate,

    // The server keeps what was cut off until a scavenge, and shows it to no reader of the stream.
    erase: (stream, upTo) => truncate(stream, upTo + 1),

    async appendInOrder(appends) {
      const taken: AppendResult[] = [];
      // One on its way at a time. The server takes each append for itself: with more, one that is lost or refused for a
      // moment would come to stand behind those that were sent after it, and what stands there can never be moved.
      for (const append of appends) {
        const result = await write(append, true);
        taken.push(result);
        if (!result.ok) break;
      }
      return taken;
    },

    lastPosition,

    async *read(stream, fromRevision = 0) {
      const name = engineStream(installation, stream);
      for (let [next, size] = [BigInt(fromRevision), firstPageSize]; ; size = pageSize) {
        const page = await patiently((milliseconds) => readPage(name, next, size, milliseconds));
        remember(stream, page.at(-1));
        for (const event of page) yield recorded(event);
        const last = page.at(-1);
        if (last === undefined || page.length < size) return;
        // A stream whose first events were dropped begins behind the revision that was asked for.
        next = last.revision + 1n;
      }
    },

    async readLast(stream) {
      const name = engineStream(installation, stream);
      const [last] = await patiently((milliseconds) => readPage(name, 'last', 1, milliseconds));
      remember(stream, last);
      return last === undefined ? null : recorded(last);
    },

    subscribe: (subscription) => shared.subscribe(subscription),

    async close() {
      await Promise.all([connection.close(), appends.close()]);
    },
  };
}
