/** Follows all streams of an installation from a place on: catches up in batches, hands live events over at once, comes back after every drop. */
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { sleep } from '#concurrency/sleep';
import type { Logger } from '#runtime/logger';
import { patienceMs, within, type Connection } from './eventstoredb-connection.js';
import { isOutage, Lost, refusalOf } from './eventstoredb-errors.js';
import { engineStream, positionNumber, type EngineEvent } from './eventstoredb-events.js';
import {
  decodeSubscriptionMessage,
  engineEventOf,
  type LogPlace,
  type SubscriptionMessage,
} from './eventstoredb-messages.js';
import type { EventBatch, Subscription } from './event-store.js';

interface Positioned {
  readonly position: number;
}

export interface Following<Event extends Positioned> {
  readonly connection: Connection;
  readonly installation: string;
  readonly logger: Logger;
  /** Nothing at all for so long is a dead subscription: the server ends some without a word. */
  readonly silenceMs: number;
  /** What the server hands over, as the subscriber is to have it. */
  decode(event: EngineEvent): Event;
}

const batchLimit = 500;
/** How many events the server looks at for one page, and how often it tells how far it is where few of them match. */
const searchWindow = 500;
const checkpointPages = 2;
/** How often a place without events is handed over: stored checkpoints stay near the end, and the stores get a rest. */
const emptyBatchEveryMs = 5_000;
const firstPauseMs = 100;
const longestPauseMs = 5_000;

/** Sleeps until the time is up or `wake` is called; returns at once where that was before. */
function createAlarm() {
  let waking = new AbortController();
  return {
    wake: () => waking.abort(),
    async sleep(milliseconds: number): Promise<void> {
      await sleep(milliseconds, waking.signal);
      waking = new AbortController();
    },
  };
}

/** Where a subscription of this process goes on; more exact than the port's numbers, which cannot tell of a place between events. */
interface Place {
  resume: LogPlace | null;
  /** Of the newest event that came, so that none comes twice. */
  lastEvent: number;
  /** Whether the server said anything since the last drop. */
  isHeard: boolean;
}

/** A drop that is nobody's fault: the server had nothing to say. */
class Silence extends Lost {}

/** Some versions tell a place of 2^64 - 1 to who has seen nothing yet. */
const noPlace = 2 ** 63;

const readPath = streamServices.StreamsService.read.path;

function requestFor(prefixes: readonly string[], from: LogPlace | null): ReadReq {
  const { Options } = streams.ReadReq;
  const all = new Options.AllOptions();
  if (from === null) all.setStart(new shared.Empty());
  else {
    const position = new Options.Position();
    all.setPosition(position.setCommitPosition(String(from.commit)).setPreparePosition(String(from.prepare)));
  }
  const names = new Options.FilterOptions.Expression().setPrefixList([...prefixes]);
  const filter = new Options.FilterOptions()
    .setStreamIdentifier(names)
    .setMax(searchWindow)
    .setCheckpointintervalmultiplier(checkpointPages);
  const options = new Options()
    .setAll(all)
    .setSubscription(new Options.SubscriptionOptions())
    .setFilter(filter)
    .setReadDirection(Options.ReadDirection.FORWARDS)
    .setUuidOption(new Options.UUIDOption().setString(new shared.Empty()));
  return new streams.ReadReq().setOptions(options);
}

const serialize = (request: ReadReq): Buffer => Buffer.from(request.serializeBinary());

/** One subscription, until the signal aborts. Throws what it dropped for, after everything that came was handed over. */
async function* followOnce<Event extends Positioned>(
  { connection, installation, silenceMs, decode }: Following<Event>,
  prefixes: readonly string[],
  place: Place,
  signal: AbortSignal,
): AsyncGenerator<EventBatch<Event>> {
  const session = await within(patienceMs, 'connecting', connection.session());
  // Once the subscription is past what is now the newest event, a checkpoint may be as far, whatever matched. Asked of the
  // same member: another one may be ahead of what this one hands over.
  const newest = Number((await connection.lastPosition(patienceMs, session)) ?? -1);
  const alarm = createAlarm();
  let ready: Event[] = [];
  /** Everything up to here has come: it is in `ready` or was handed over. */
  let passed = -1;
  let handedOver = place.resume?.commit ?? -1;
  let handedOverAtMs = Date.now();
  let heardAtMs = Date.now();
  let fault = null as Error | null;

  const drop = (error: Error): void => {
    fault ??= error;
    alarm.wake();
  };
  let isWaking = false;
  /** At the end of this turn of the loop: what came in one packet is one batch. */
  const wakeSoon = (): void => {
    if (isWaking) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      alarm.wake();
    });
  };
  const pass = (resume: LogPlace | null, commit: number): void => {
    if (resume !== null && resume.commit > (place.resume?.commit ?? -1)) place.resume = resume;
    passed = Math.max(passed, commit);
  };
  const take = (message: SubscriptionMessage): void => {
    if (message.kind === 'event') {
      const event = decode(engineEventOf(message.event));
      if (event.position <= place.lastEvent) return;
      ready.push(event);
      place.lastEvent = event.position;
      pass(message.event.place, event.position);
    } else if (message.kind === 'checkpoint' && message.place.commit < noPlace) {
      const { commit, prepare } = message.place;
      // While catching up the server tells where its page began, a place before the event that begins there.
      pass(message.place, commit === prepare ? commit : newest < commit ? newest : -1);
    } else if (message.kind === 'caughtUp') {
      const told = message.place !== null && message.place.commit < noPlace ? message.place.commit : newest;
      pass(null, Math.max(told, newest));
      // A stored checkpoint should know at once how far this came.
      handedOverAtMs = 0;
      wakeSoon();
    }
  };
  /** What is left stays with gRPC, which then stops reading. */
  let isReadable = true;
  const gather = (limit: number): void => {
    try {
      while (isReadable && ready.length < limit) {
        const message = call.read() as SubscriptionMessage | null;
        if (message === null) break;
        heardAtMs = Date.now();
        place.isHeard = true;
        take(message);
      }
    } catch (error) {
      isReadable = false;
      drop(error instanceof Error ? error : new Error(String(error)));
    }
    if (ready.length > 0) wakeSoon();
  };

  const call = session.streams.makeServerStreamRequest<ReadReq, SubscriptionMessage>(
    readPath,
    serialize,
    decodeSubscriptionMessage,
    requestFor(
      prefixes.map((prefix) => engineStream(installation, prefix)),
      place.resume,
    ),
    ...session.callArguments(),
  );
  const stop = (): void => alarm.wake();
  const leave = (): void => drop(new Lost('the connection was given up', session.signal.reason));
  signal.addEventListener('abort', stop);
  session.signal.addEventListener('abort', leave);
  call
    .on('readable', () => gather(batchLimit))
    .on('error', (error: Error) => {
      drop(refusalOf(error) ?? error);
      if (!signal.aborted) connection.report(session, error);
    })
    .on('end', () => drop(new Lost('the server ended the subscription')));
  if (session.signal.aborted) leave();

  try {
    while (!signal.aborted) {
      const waitedAtMs = Date.now();
      if (ready.length === 0) gather(batchLimit);
      if (ready.length > 0) {
        const events = ready;
        ready = [];
        // What comes while this batch is handled is the next one.
        gather(batchLimit);
        handedOver = events.at(-1)?.position ?? handedOver;
        handedOverAtMs = waitedAtMs;
        if (ready.length === 0) handedOver = Math.max(handedOver, passed);
        yield { events, position: positionNumber(handedOver) };
        heardAtMs = Math.max(heardAtMs, Date.now());
        continue;
      }
      if (fault !== null) throw fault;
      const isBehind = passed > handedOver;
      if (isBehind && waitedAtMs - handedOverAtMs >= emptyBatchEveryMs) {
        handedOver = passed;
        handedOverAtMs = waitedAtMs;
        yield { events: [], position: positionNumber(handedOver) };
        continue;
      }
      const silentAtMs = heardAtMs + silenceMs;
      if (waitedAtMs >= silentAtMs) throw new Silence('the server said nothing');
      const wakeAtMs = isBehind ? Math.min(silentAtMs, handedOverAtMs + emptyBatchEveryMs) : silentAtMs;
      await alarm.sleep(wakeAtMs - waitedAtMs);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    session.signal.removeEventListener('abort', leave);
    // Left alone, the call would stay open for ever.
    call.cancel();
    call.destroy();
  }
}

/** Throws only what another try would not mend: access refused, an event that nobody here wrote. */
export async function* follow<Event extends Positioned>(
  following: Following<Event>,
  { prefixes, after, signal: asked }: Subscription,
): AsyncGenerator<EventBatch<Event>> {
  const { connection, logger } = following;
  const signal = AbortSignal.any([asked, connection.signal]);
  const place: Place = {
    // Events that are written at once are committed by themselves: their two halves are one place.
    resume: after === null ? null : { commit: after, prepare: after },
    lastEvent: after ?? -1,
    isHeard: false,
  };
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    place.isHeard = false;
    try {
      yield* followOnce(following, prefixes, place, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!isOutage(error)) throw error;
      if (error instanceof Silence && place.isHeard) continue;
      if (place.isHeard) pauseMs = firstPauseMs;
      logger.warn(
        { prefixes, error: String(error), position: String(place.resume?.commit ?? 'start') },
        'a subscription dropped; going on where it was',
      );
      await sleep(pauseMs * (0.5 + Math.random() / 2), signal);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }
}
