/**
 * Rebuilding a view while it serves reads. The process that runs the view's projection sees the request, builds the view a
 * second time under another name, in chunks between the live batches, and once the build has seen as much as the live view
 * replaces it between two batches. A process that takes the projection over starts the build again.
 *
 * A view that has seen nothing and has many events to read is first built the same way: its list stays empty until the
 * build is complete, and a request made meanwhile is answered by this build.
 */
import { randomBytes } from 'node:crypto';
import { createMutex, type Mutex } from '#concurrency/mutex';
import { sleep } from '#concurrency/sleep';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { AppError } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import type { SharedState } from '#shared-state/shared-state';
import { coalesced } from '../coalesce.js';
import type { Projected } from '../projected.js';
import { asBuilt, type AnyView, type BackfillResult, type ViewStore } from '#read-store/read-store';
import {
  createProgressReporter,
  createRequestClaim,
  findRebuild,
  rebuildOf,
  requestRebuild,
  TakenOver,
  writeRebuild,
  type ProgressReporter,
  type Request,
} from './requests.js';
import { createViewBuilder } from './view-builder.js';

/** What a rebuild needs of the projection of the live view. */
export interface LiveView {
  /** Held while a batch is written. */
  readonly mutex: Mutex;
  /** Position up to which it has seen the events; null: none. */
  seen(): number | null;
  /** Position of the last event of its own streams that may lie at or below `seen`. */
  lastEvent(): number | null;
  /** A build that has seen the events up to `position` has replaced it; `events` are the newest that the live view had not seen. */
  replaced(position: number, events: readonly RecordedEvent[]): Promise<void>;
}

export interface RebuildDeps<Document extends object> extends Projected<Document> {
  readonly eventStore: EventStore;
  readonly readStore: ViewStore;
  readonly sharedState: SharedState;
  readonly logger: Logger;
  readonly live: LiveView;
  /** No other process can be building it: an unfinished build was abandoned. */
  readonly isAlone: boolean;
  /** How often requests are looked for; every two seconds by default. */
  readonly lookEveryMs?: number;
}

/** Below this a plain rebuild is faster. */
const minEventsForBackfill = 10_000;
const defaultLookEveryMs = 2_000;

/** Fills the build up to the second-last event where the store can backfill; the last one is read by subscription, as new events are. */
async function backfill<Document extends object>(
  deps: RebuildDeps<Document>,
  built: AnyView,
  end: number,
  report: ProgressReporter,
  signal: AbortSignal,
): Promise<BackfillResult | null> {
  const { view, readStore, live } = deps;
  if (readStore.backfiller === null || end < minEventsForBackfill) return null;
  if (!(await exceedsFirstBatch(deps, signal))) return null;
  const onProgress = (done: number, events: number): Promise<void> =>
    report({ state: 'building', done, total: Math.max(end, live.seen() ?? 0), events });
  const result = await readStore.backfiller.run({ view, built, end: end - 1, onProgress, signal });
  // A failed backfill may leave documents: the plain rebuild starts empty.
  if (result === null && !signal.aborted) await readStore.reset(built);
  return result;
}

/**
 * Builds the view under `name` and replaces the live view with it. Rejects with `TakenOver`, or with what hindered it.
 *
 * It replaces once no more events are waiting and it has seen every event that the live view has. It may have seen more: a
 * live view that is far behind is overtaken.
 */
async function build<Document extends object>(
  deps: RebuildDeps<Document>,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { view, prefixes, eventStore, readStore, sharedState, live } = deps;
  const built = asBuilt(view, name);
  const report = createProgressReporter(sharedState, view.name, name);
  let events = 0;
  let release: (() => void) | null = null;
  const end = await eventStore.lastPosition();
  if (end === null) return report({ state: 'done', done: 0, total: 0, events });
  const backfilled = await backfill(deps, built, end, report, signal);
  if (signal.aborted) return;
  const after = backfilled?.position ?? null;
  const builder = createViewBuilder(deps, built, readStore, backfilled);
  events += backfilled?.events ?? 0;
  try {
    for await (const batch of coalesced(eventStore, { prefixes, after, signal })) {
      if (signal.aborted) return;
      await builder.apply(batch.events);
      events += batch.events.length;
      await report({ state: 'building', done: batch.position, total: Math.max(end, live.seen() ?? 0), events });
      // Nearly done: from here on the live view pauses, however many events arrive.
      if (release === null && batch.isLast && batch.position >= end) {
        await readStore.index(view, built);
        // The most of it before anybody waits.
        await builder.flush(batch.position);
        await builder.forget(readStore);
        release = await live.mutex.acquire();
      }
      if (release === null || batch.position < (live.lastEvent() ?? 0)) continue;
      const seen = live.seen() ?? 0;
      // Where the live view has seen more, none of it was an event of its streams.
      const position = Math.max(batch.position, seen);
      await builder.flush(position);
      await builder.forget(readStore);
      if ((await rebuildOf(sharedState, view.name))?.build !== name) throw new TakenOver();
      await readStore.replace(view, built);
      await live.replaced(
        position,
        batch.events.filter((event) => event.position > seen),
      );
      return await report({ state: 'done', done: position, total: position, events });
    }
  } finally {
    release?.();
  }
}

const isOutage = (error: unknown): boolean => error instanceof AppError && error.code === 'SERVER_ERROR';

/** Carries a request out as the only builder under `name`. Rejects where an outage hindered it and it may be tried again. */
async function carryOut<Document extends object>(
  deps: RebuildDeps<Document>,
  request: Request,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { view, readStore, sharedState, logger } = deps;
  // An unfinished build is not continued: another version may have begun it.
  if (request.value.build !== null) await readStore.reset(asBuilt(view, request.value.build));
  await writeRebuild(sharedState, { ...request.value, state: 'building', build: name, done: 0, events: 0 }, request);
  // Of two processes that began at once one was written.
  if ((await rebuildOf(sharedState, view.name))?.build !== name) return;
  logger.info({ view: view.name }, 'rebuilding the view beside the live one');
  try {
    await build(deps, name, signal);
    if (!signal.aborted) logger.info({ view: view.name }, 'the view is rebuilt');
  } catch (error) {
    if (!(error instanceof TakenOver) && isOutage(error)) throw error;
    await readStore.reset(asBuilt(view, name));
    if (error instanceof TakenOver) return;
    logger.error({ view: view.name, error: String(error) }, 'the view cannot be rebuilt; the live one stays');
    const known = await findRebuild(sharedState, view.name);
    if (known?.value?.build !== name) return;
    await writeRebuild(sharedState, { ...known.value, state: 'failed', build: null, error: String(error) }, known);
  }
}

export interface Rebuilder {
  /** Polls for requests and carries them out, one after the other, until the signal aborts. */
  answer(signal: AbortSignal): Promise<void>;
  /**
   * Builds a view that has seen nothing as a rebuild does, with the same progress reports. Does nothing where the first batch
   * holds all its events; gives up where an event cannot be read. Rejects on an outage.
   */
  begin(signal: AbortSignal): Promise<void>;
}

/** Whether the view has more events than the first batch delivers. */
async function exceedsFirstBatch(
  { prefixes, eventStore }: Pick<RebuildDeps<object>, 'prefixes' | 'eventStore'>,
  signal: AbortSignal,
): Promise<boolean> {
  const end = await eventStore.lastPosition();
  if (end === null) return false;
  for await (const { position } of coalesced(eventStore, { prefixes, after: null, signal })) return position < end;
  return false;
}

export function createRebuilder<Document extends object>(deps: RebuildDeps<Document>): Rebuilder {
  const { view, readStore, sharedState, isAlone, logger, lookEveryMs = defaultLookEveryMs } = deps;
  const mayClaim = createRequestClaim();
  const builds = createMutex();
  // A backfill reads the events once for all views it joins: views poll at the same moments, so that their builds join.
  const untilPollMs = (): number =>
    readStore.backfiller === null ? lookEveryMs : lookEveryMs - (Date.now() % lookEveryMs);
  const pause = (signal: AbortSignal): Promise<void> => sleep(untilPollMs(), signal, { ref: false });
  let own: string | null = null;

  const poll = async (signal: AbortSignal): Promise<void> => {
    const request = await findRebuild(sharedState, view.name);
    const value = request?.value ?? null;
    if (signal.aborted || request === undefined || value === null) return;
    const isAbandoned = isAlone && value.state === 'building';
    if (!isAbandoned && !mayClaim({ ...request, value }, own)) return;
    own = `${view.name}_build_${randomBytes(5).toString('hex')}`;
    await carryOut(deps, { ...request, value }, own, signal);
  };

  return {
    async answer(signal) {
      let isAway = false;
      while (!signal.aborted) {
        try {
          await builds.run(() => poll(signal));
          isAway = false;
        } catch (error) {
          if (!isAway) logger.warn({ view: view.name, error: String(error) }, 'a rebuild was hindered; trying again');
          isAway = true;
        }
        await pause(signal);
      }
    },

    async begin(signal) {
      if (!(await exceedsFirstBatch(deps, signal))) return;
      while (!signal.aborted) {
        const isOver = await builds.run(async () => {
          if ((await readStore.checkpoint(view)) !== null) return true;
          await requestRebuild(sharedState, view.name, new Date().toISOString());
          await poll(signal);
          return (await rebuildOf(sharedState, view.name))?.state === 'failed';
        });
        if (isOver || (await readStore.checkpoint(view)) !== null) return;
        await pause(signal);
      }
    },
  };
}
