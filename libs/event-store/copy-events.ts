/**
 * Copies a whole history from one event store into another: every event under its id, at its revision, with its data and
 * metadata, in the order over all streams. Where the target stands is looked up in the target itself, so that a copy that
 * was killed is finished by copying again, and nothing is written twice.
 */
import { patiently } from '#concurrency/patience';
import { reject, type AppError } from '#runtime/errors';
import { createBeginnings, droppedEvent, isDropped } from './dropped-events.js';
import type { EventArchive, NewEvent, RecordedEvent, StreamAppend } from './event-store.js';
import { createHistoryDigest, fingerprintOf, HistoryBroken, type HistoryDigest } from './history-digest.js';
import { readThrough, StoreUnreadable } from './read-through.js';

export interface CopyProgress {
  /** Events of the source that are in the target, or on their way there. */
  readonly events: number;
  /** How many of them this copy has written. */
  readonly copied: number;
  /** How much of the source has been read, from 0 to 1. */
  readonly share: number;
}

export interface CopyOptions {
  readonly source: EventArchive;
  readonly target: EventArchive;
  progress?(progress: CopyProgress): void;
  /** Called once before the first write, when the target is known to hold a beginning of the source. */
  beforeWriting?(): Promise<void>;
  /** How long to go on trying while the target cannot be written, and to wait for a source that brings nothing. */
  readonly patienceMs?: number;
}

export interface Copied {
  /** Of the source, as it was read. */
  readonly history: HistoryDigest;
  /** How many events this copy has written; the others were there already. */
  readonly copied: number;
}

/** Bounds of one append, well below what the engines take at once, and of what is handed over together. */
const appendLimits = { events: 500, bytes: 512 * 1024 };
const chunkLimits = { appends: 200, bytes: 4 * 1024 * 1024 };
const defaultPatienceMs = 60_000;
/** About as many bytes as what stands for a dropped event takes. */
const droppedSize = 300;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const shown = ({ stream, revision, type, id }: RecordedEvent): string => `${stream}@${revision} (${type}, event ${id})`;

const toNewEvent = ({ id, type, version, data, metadata }: RecordedEvent): NewEvent => ({
  id,
  type,
  version,
  data,
  metadata,
});

function holdsOthers(place: number, found: RecordedEvent, wanted: RecordedEvent | null): AppError {
  const instead = wanted === null ? 'the source has no more events' : `the source has ${shown(wanted)}`;
  return reject(
    'target_holds_others',
    `The target holds events that are not a beginning of the source: its event ${place + 1} is ${shown(found)}, where ${instead}. ` +
      'It may have been in use since an earlier migration, or belong to another installation. ' +
      'Nothing was written; migrate into an empty place: another folder, or another INSTALLATION.',
  );
}

function unreadableTarget(error: unknown): never {
  if (!(error instanceof StoreUnreadable)) throw error;
  throw reject('target_broken', `The target cannot be gone on with: ${error.message}. Migrate into an empty place.`);
}

/** One event after the other of those that the source has not dropped, from the first that is there; null at the end. */
function createCursor(
  target: EventArchive,
  {
    end,
    silenceMs,
    beginningOf,
  }: {
    readonly end: number | null;
    readonly silenceMs: number;
    readonly beginningOf: (stream: string) => Promise<number>;
  },
) {
  const batches = readThrough(target, { end, silenceMs });
  let events: readonly RecordedEvent[] = [];
  let index = 0;
  return {
    async next(): Promise<RecordedEvent | null> {
      for (;;) {
        while (index >= events.length) {
          const batch = await batches.next().catch(unreadableTarget);
          if (batch.done === true) return null;
          events = batch.value.events;
          index = 0;
        }
        const event = events[index];
        index += 1;
        if (event === undefined || isDropped(event)) continue;
        if (event.revision >= (await beginningOf(event.stream))) return event;
      }
    },
    close: () => batches.return(undefined),
  };
}

/** Consecutive events of one stream become one append, so that what was written at once mostly is so again. */
function createChunk() {
  let appends: { readonly stream: string; readonly first: number; readonly events: NewEvent[]; bytes: number }[] = [];
  let bytes = 0;
  return {
    get isFull() {
      return appends.length >= chunkLimits.appends || bytes >= chunkLimits.bytes;
    },
    add(event: RecordedEvent, size: number): void {
      const last = appends.at(-1);
      const fits =
        last?.stream === event.stream &&
        last.events.length < appendLimits.events &&
        last.bytes + size <= appendLimits.bytes;
      if (fits) {
        last.events.push(toNewEvent(event));
        last.bytes += size;
      } else {
        appends.push({ stream: event.stream, first: event.revision, events: [toNewEvent(event)], bytes: size });
      }
      bytes += size;
    },
    take(): readonly StreamAppend[] {
      const taken = appends.map(({ stream, first, events }) => ({
        stream,
        events,
        expected: first === 0 ? ('none' as const) : first - 1,
      }));
      appends = [];
      bytes = 0;
      return taken;
    },
  };
}

const revisionBehind = async (target: EventArchive, stream: string): Promise<number> =>
  ((await target.readLast(stream))?.revision ?? -1) + 1;

/** Where an append was not taken: what of it is there already, written by a copy that was killed and whose last append came late. */
async function restOf(target: EventArchive, { stream, events, expected }: StreamAppend): Promise<StreamAppend> {
  const first = expected === 'none' ? 0 : expected + 1;
  let there = 0;
  for await (const found of target.read(stream, first)) {
    const wanted = events[there];
    if (wanted === undefined || wanted.id.toLowerCase() !== found.id.toLowerCase()) {
      throw reject(
        'target_in_use',
        `The target is written to by somebody else: ${shown(found)} appeared in it. Stop whatever uses it; then migrate into an empty place.`,
      );
    }
    there += 1;
  }
  if (there === 0) {
    throw reject('target_in_use', `The target does not take ${stream}@${first}, and holds nothing there.`);
  }
  return { stream, events: events.slice(there), expected: first + there - 1 };
}

async function write(target: EventArchive, appends: readonly StreamAppend[]): Promise<void> {
  let waiting = appends;
  while (waiting.length > 0) {
    const answers = await target.appendInOrder(waiting);
    const taken = answers.filter(({ ok }) => ok).length;
    const [refused, ...behind] = waiting.slice(taken);
    if (refused === undefined) return;
    const rest = await restOf(target, refused);
    waiting = rest.events.length === 0 ? behind : [rest, ...behind];
  }
}

/**
 * A stream whose first events were folded and dropped begins in the target where it does in the source.
 *
 * Rejects with `target_holds_others` and `target_broken`, and then has written nothing; with `target_in_use`,
 * `source_in_use`, `source_broken` or `event_store_unavailable`, and then copying again goes on behind what was written.
 */
export async function copyEvents(options: CopyOptions): Promise<Copied> {
  const { source, target, progress, beforeWriting, patienceMs = defaultPatienceMs } = options;
  const beginningOf = createBeginnings(source);
  const [end, targetEnd] = [await source.lastPosition(), await target.lastPosition()];
  const history = createHistoryDigest();
  const there = createCursor(target, { end: targetEnd, silenceMs: patienceMs, beginningOf });
  const chunk = createChunk();
  let isBeginning = true;
  let place = 0;
  let copied = 0;
  let isWriting = false;
  // What is read next is gathered while what was gathered is written; never two at once, for the sake of their order.
  let writing: Promise<void> = Promise.resolve();
  // The same appends again change nothing, so what is not known to be written is written again.
  const writeAgain = (appends: readonly StreamAppend[]) => patiently(() => write(target, appends), { patienceMs });
  const truncate = (stream: string, first: number) => patiently(() => target.truncate(stream, first), { patienceMs });
  const flush = async (): Promise<void> => {
    await writing;
    if (!isWriting) await beforeWriting?.();
    isWriting = true;
    writing = writeAgain(chunk.take());
    // Awaited by the next flush; until then a rejection is not one that nobody handles.
    writing.catch(() => undefined);
  };

  try {
    for await (const batch of readThrough(source, { end, silenceMs: patienceMs })) {
      for (const event of batch.events) {
        const first = await beginningOf(event.stream);
        // An engine that cleans up later hands over what was dropped.
        if (event.revision < first) continue;
        if (!uuid.test(event.id)) throw new HistoryBroken(event, 'its id is not a UUID');
        const fingerprint = history.add(event, first);
        if (isBeginning) {
          const found = await there.next();
          if (found === null) isBeginning = false;
          else if (fingerprintOf(found).hash !== fingerprint.hash) throw holdsOthers(place, found, event);
        }
        place += 1;
        if (isBeginning) continue;
        // An earlier copy may have some of what was dropped since.
        const next = event.revision === first && first > 0 ? await revisionBehind(target, event.stream) : first;
        for (let revision = next; revision < first; revision += 1) {
          chunk.add({ ...event, ...droppedEvent(event, revision), revision }, droppedSize);
          if (chunk.isFull) await flush();
        }
        chunk.add(event, fingerprint.size);
        copied += 1;
        if (chunk.isFull) await flush();
      }
      progress?.({ events: place, copied, share: end === null ? 1 : batch.position / end });
    }
    const beyond = isBeginning ? await there.next() : null;
    if (beyond !== null) throw holdsOthers(place, beyond, null);
    await flush();
    await writing;
    for (const [stream, { first }] of history.streams) if (first > 0) await truncate(stream, first);
    await refuseGrowth(source, end, patienceMs);
    return { history, copied };
  } catch (error) {
    await writing.catch(() => undefined);
    throw brokenSource(error);
  } finally {
    await there.close();
  }
}

/** What to say of an error that came of reading the source; any other as it is. */
export function brokenSource(error: unknown): unknown {
  if (!(error instanceof HistoryBroken) && !(error instanceof StoreUnreadable)) return error;
  return reject('source_broken', `The source cannot be copied: ${error.message}. Restore it from a backup.`);
}

/** Events that came to the source meanwhile are the work of a process that should have been stopped. */
async function refuseGrowth(source: EventArchive, end: number | null, silenceMs: number): Promise<void> {
  for await (const { events } of readThrough(source, { after: end, end: await source.lastPosition(), silenceMs })) {
    const [first] = events;
    if (first === undefined) continue;
    throw reject(
      'source_in_use',
      `The source is in use: ${shown(first)} came while it was copied. Stop all its processes and run this again.`,
    );
  }
}

export interface VerifyOptions {
  readonly target: EventArchive;
  /** What the source holds. */
  readonly history: HistoryDigest;
  /** Handed every batch of the target, in order, before all is known to be the same. */
  look?(events: readonly RecordedEvent[]): Promise<void>;
  /** From 0 to 1, and how many events were read back. */
  progress?(share: number, events: number): void;
  readonly silenceMs?: number;
}

const namedStreams = 5;

/** Reads the target back and holds it against the source: counts and hashes, as a whole and by stream. Rejects with `copy_differs`. */
export async function verifyCopy({ target, history, look, progress, silenceMs }: VerifyOptions): Promise<void> {
  const end = await target.lastPosition();
  const found = createHistoryDigest();
  let count = 0;
  const options = silenceMs === undefined ? { end } : { end, silenceMs };
  try {
    for await (const { events: all, position } of readThrough(target, options)) {
      const events = all.filter((event) => !isDropped(event) && event.revision >= history.firstOf(event.stream));
      for (const event of events) found.add(event, history.firstOf(event.stream));
      await look?.(events);
      count += events.length;
      progress?.(end === null ? 1 : position / end, count);
    }
  } catch (error) {
    if (!(error instanceof HistoryBroken) && !(error instanceof StoreUnreadable)) throw error;
    throw copyDiffers(error.message);
  }
  const [wanted, is] = [history.summary(), found.summary()];
  if (wanted.hash === is.hash) return;
  const streams = history.differingStreams(found);
  const named = streams.length === 0 ? 'no stream, but their order' : streams.slice(0, namedStreams).join(', ');
  const more = streams.length > namedStreams ? ` and ${streams.length - namedStreams} more` : '';
  throw copyDiffers(
    `the source has ${wanted.events} events in ${wanted.streams} streams, the target ${is.events} in ${is.streams}; different: ${named}${more}`,
  );
}

function copyDiffers(why: string): AppError {
  return reject(
    'copy_differs',
    `The target is not the same as the source: ${why}. Do not start it; migrate into an empty place.`,
  );
}
