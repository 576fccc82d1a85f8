/** Follows all streams of an installation from a place on: catches up in batches, hands live events over at once, comes back after every drop. */
import type { Readable } from 'node:stream';
import {
  START,
  streamNameFilter,
  type AllStreamResolvedEvent,
  type Position,
  type RecordedEvent as EngineEvent,
} from '@eventstore/db-client';
import { sleep } from '#concurrency/sleep';
import type { Logger } from '#runtime/logger';
import { isOutage, Lost, patienceMs, type Connection } from './eventstoredb-connection.js';
import { engineStream, enginePosition, positionNumber } from './eventstoredb-events.js';
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
  resume: Position | null;
  /** Of the newest event that came, so that none comes twice. */
  lastEvent: number;
  /** Whether the server said anything since the last drop. */
  isHeard: boolean;
}

/** A drop that is nobody's fault: the server had nothing to say. */
class Silence extends Lost {}

/** One subscription, until the signal aborts. Throws what it dropped for, after everything that came was handed over. */
async function* followOnce<Event extends Positioned>(
  { connection, installation, silenceMs, decode }: Following<Event>,
  prefixes: readonly string[],
  place: Place,
  signal: AbortSignal,
): AsyncGenerator<EventBatch<Event>> {
  // Once the subscription is past what is now the newest event, a checkpoint may be as far, whatever matched.
  const newest = await connection.lastPosition(patienceMs);
  const alarm = createAlarm();
  let ready: Event[] = [];
  /** Everything up to here has come: it is in `ready` or was handed over. */
  let passed: bigint | null = null;
  let handedOver = place.resume?.commit ?? -1n;
  let handedOverAtMs = Date.now();
  let heardAtMs = Date.now();
  let fault = null as Error | null;

  const drop = (error: Error): void => {
    fault ??= error;
    alarm.wake();
  };
  const heard = (): void => {
    heardAtMs = Date.now();
    place.isHeard = true;
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
  const gather = (limit: number): void => {
    try {
      while (ready.length < limit) {
        const resolved = source.read() as AllStreamResolvedEvent | null;
        if (resolved === null) break;
        heard();
        if (resolved.event === undefined) continue;
        const event = decode(resolved.event);
        if (event.position <= place.lastEvent) continue;
        ready.push(event);
        place.lastEvent = event.position;
        passed = resolved.event.position.commit;
        place.resume = resolved.event.position;
      }
    } catch (error) {
      drop(error instanceof Error ? error : new Error(String(error)));
    }
    if (ready.length > 0) wakeSoon();
  };
  /** What came before it is read first, so that the place is behind it. */
  const pass = (resume: Position | null, commit: bigint | null): void => {
    gather(Number.POSITIVE_INFINITY);
    heard();
    if (fault !== null) return;
    if (resume !== null && resume.commit > (place.resume?.commit ?? -1n)) place.resume = resume;
    if (commit !== null && commit > (passed ?? -1n)) passed = commit;
  };

  const subscription = connection.client.subscribeToAll({
    fromPosition: place.resume ?? START,
    filter: streamNameFilter({
      prefixes: prefixes.map((prefix) => engineStream(installation, prefix)),
      maxSearchWindow: searchWindow,
      checkpointInterval: checkpointPages,
      async checkpointReached(_, { commit, prepare }) {
        // While catching up the server tells where its page began, a place before the event that begins there.
        if (commit === prepare) pass({ commit, prepare }, commit);
        else pass({ commit, prepare }, newest !== null && newest < commit ? newest : null);
      },
    }),
  });
  const source = subscription as unknown as Readable;
  const stop = (): void => alarm.wake();
  signal.addEventListener('abort', stop);
  subscription
    .on('confirmation', heard)
    .on('caughtUp', () => {
      pass(null, newest);
      // A stored checkpoint should know at once how far this came.
      handedOverAtMs = 0;
      alarm.wake();
    })
    .on('readable', () => gather(batchLimit))
    .on('error', drop)
    .on('end', () => drop(new Lost('the server ended the subscription')))
    .on('close', () => drop(new Lost('the subscription was closed')));

  try {
    while (!signal.aborted) {
      const waitedAtMs = Date.now();
      if (ready.length === 0) gather(batchLimit);
      if (ready.length > 0) {
        const events = ready;
        ready = [];
        // What comes while this batch is handled is the next one.
        gather(batchLimit);
        handedOver = BigInt(events.at(-1)?.position ?? 0);
        handedOverAtMs = waitedAtMs;
        if (ready.length === 0 && passed !== null && passed > handedOver) handedOver = passed;
        yield { events, position: positionNumber(handedOver) };
        heardAtMs = Math.max(heardAtMs, Date.now());
        continue;
      }
      if (fault !== null) throw fault;
      const isBehind = passed !== null && passed > handedOver;
      if (isBehind && waitedAtMs - handedOverAtMs >= emptyBatchEveryMs) {
        handedOver = passed ?? handedOver;
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
    // Left alone, the call would stay open for ever.
    subscription.unsubscribe().catch(() => undefined);
    source.destroy();
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
    resume: after === null ? null : enginePosition(after),
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
