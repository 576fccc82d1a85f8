/**
 * Rebuilding a view while it lives. Who wants it writes a request, a document under the view's name. Whoever keeps the view
 * sees it, builds the view a second time beside the live one, in slices between the live batches, and once it has seen as
 * much puts it in the live one's place between two batches. A process that takes the view over begins anew.
 *
 * A view that has seen nothing, and has much to see, is begun so as well, before it is followed: its list is empty until it is
 * whole, and who asks for a rebuild meanwhile is told of this one.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createMutex, type Mutex } from '#concurrency/mutex';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { gathered } from '#event-store/gathered';
import { AppError } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import type { Projected } from '../projected.js';
import type { AnyView, BackfillResult, DocumentWrite, ReadStore, ViewDefinition, ViewStore } from '../read-store.js';

import { createViewBuilder } from './view-builder.js';

export interface Rebuild {
  readonly view: string;
  readonly requestedAt: string;
  readonly state: 'requested' | 'building' | 'done' | 'failed';
  /** Name under which it is built; null where nobody began. */
  readonly build: string | null;
  /** Position up to which it is built, and the one it has to reach. */
  readonly done: number;
  readonly total: number;
  readonly events: number;
  readonly tookMs: number;
  /** What a failed one failed of. */
  readonly error: string | null;
}

/** Not derived from events. By name of the view. */
export const rebuildsView: ViewDefinition<Rebuild> = { name: 'rebuilds', fields: [], indexes: [] };

/** The live view as its projection has it in hand. */
export interface LiveView {
  readonly mutex: Mutex;
  /** Position up to which it has seen the events; null: none. */
  seen(): number | null;
  /** Position of the last event of its own streams that may lie at or below `seen`. */
  lastEvent(): number | null;
  /** Another has taken its place, which has seen the events up to `position`; `events` are the newest that the live one had not. */
  replaced(position: number, events: readonly RecordedEvent[]): Promise<void>;
}

export interface RebuildDeps<Document extends object> extends Projected<Document> {
  readonly eventStore: EventStore;
  readonly readStore: ViewStore;
  readonly logger: Logger;
  readonly live: LiveView;
  /** No other process can be at building it: what is being built was left. */
  readonly isAlone: boolean;
  /** How often requests are looked for; every two seconds where it is not said. */
  readonly lookEveryMs?: number;
}

/** Below this a plain rebuild is faster. */
const minEventsForBackfill = 10_000;
const defaultLookEveryMs = 2_000;
const tellEveryMs = 250;
/** A build that nobody tells of for so many looks was cut off. */
const silentLooks = 3;

async function write(
  readStore: ReadStore,
  rebuild: Rebuild,
  before: DocumentWrite<Rebuild> | undefined,
): Promise<void> {
  const revision = (before?.revision ?? 0) + 1;
  await readStore.save(rebuildsView, [{ id: rebuild.view, revision, document: rebuild }], null);
}

const find = async (readStore: ReadStore, view: string): Promise<DocumentWrite<Rebuild> | undefined> =>
  (await readStore.load(rebuildsView, [view])).get(view);

/** Asks for a rebuild. One that is asked for or under way already is the one that is meant. */
export async function requestRebuild(readStore: ReadStore, view: string, requestedAt: string): Promise<void> {
  const known = await find(readStore, view);
  if (known?.document?.state === 'requested' || known?.document?.state === 'building') return;
  const nothing = { build: null, done: 0, total: 0, events: 0, tookMs: 0, error: null };
  await write(readStore, { view, requestedAt, state: 'requested', ...nothing }, known);
}

/** How far it is; null where none was ever asked for. */
export async function rebuildOf(readStore: ReadStore, view: string): Promise<Rebuild | null> {
  return (await find(readStore, view))?.document ?? null;
}

/** Somebody else has taken the rebuild over. */
class TakenOver extends Error {}

/** The side view of a rebuild: no other has its name, so no other writes it. Nobody searches it before it is complete. */
const besideOf = <D extends object>(view: ViewDefinition<D>, name: string): ViewDefinition<D> => ({
  ...view,
  name,
  indexes: [],
});

/** Tells how far a build is, now and then, as long as it is its builder's. */
function createProgressReporter(readStore: ReadStore, view: AnyView, build: string) {
  const startedMs = performance.now();
  let toldMs = -Infinity;
  return async (progress: Pick<Rebuild, 'state' | 'done' | 'total' | 'events'> & { readonly error?: string }) => {
    const nowMs = performance.now();
    if (progress.state === 'building' && nowMs - toldMs < tellEveryMs) return;
    toldMs = nowMs;
    const known = await find(readStore, view.name);
    if (known?.document?.build !== build) throw new TakenOver();
    const tookMs = Math.round(nowMs - startedMs);
    await write(readStore, { ...known.document, error: null, ...progress, tookMs }, known);
  };
}

/** What lies back, where the store builds that by itself. The last event of all is left: it is followed as what comes. */
async function buildAhead<Document extends object>(
  parts: RebuildDeps<Document>,
  built: AnyView,
  end: number,
  tell: ReturnType<typeof createProgressReporter>,
  signal: AbortSignal,
): Promise<BackfillResult | null> {
  const { view, readStore, live } = parts;
  if (readStore.buildAhead === undefined || end < minEventsForBackfill || !(await exceedsFirstBatch(parts, signal)))
    return null;
  const come = (done: number, events: number): Promise<void> =>
    tell({ state: 'building', done, total: Math.max(end, live.seen() ?? 0), events });
  const found = await readStore.buildAhead({ view, built, end: end - 1, come, signal });
  // What could not be done so begins again.
  if (found === null && !signal.aborted) await readStore.reset(built);
  return found;
}

/**
 * Builds the view beside and puts it in the place of the live one. Rejects with `TakenOver`, or with what hindered it.
 *
 * It is put there once nothing more is to be read and it has seen every event that the live one has. It may have seen more:
 * a live view that is far behind is overtaken.
 */
async function build<Document extends object>(
  parts: RebuildDeps<Document>,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { view, prefixes, eventStore, readStore, live } = parts;
  const built = besideOf(view, name);
  const tell = createProgressReporter(readStore, view, name);
  let events = 0;
  let release: (() => void) | null = null;
  const end = await eventStore.lastPosition();
  if (end === null) return tell({ state: 'done', done: 0, total: 0, events });
  const ahead = await buildAhead(parts, built, end, tell, signal);
  if (signal.aborted) return;
  const after = ahead?.position ?? null;
  const builder = createViewBuilder(parts, built, readStore, after);
  events += ahead?.events ?? 0;
  try {
    for await (const batch of gathered(eventStore, { prefixes, after, signal })) {
      if (signal.aborted) return;
      await builder.apply(batch.events);
      events += batch.events.length;
      await tell({ state: 'building', done: batch.position, total: Math.max(end, live.seen() ?? 0), events });
      // As good as there: from here on the live view stands still, for however many events come in.
      if (release === null && batch.isLast && batch.position >= end) {
        await readStore.index(view, built);
        release = await live.mutex.acquire();
      }
      if (release === null || batch.position < (live.lastEvent() ?? 0)) continue;
      const seen = live.seen() ?? 0;
      // Where the live one has seen more there is no event of its streams in it.
      const position = Math.max(batch.position, seen);
      await builder.flush(position);
      if ((await rebuildOf(readStore, view.name))?.build !== name) throw new TakenOver();
      await readStore.replace(view, built);
      await live.replaced(
        position,
        batch.events.filter((event) => event.position > seen),
      );
      return await tell({ state: 'done', done: position, total: position, events });
    }
  } finally {
    release?.();
  }
}

const isPassing = (error: unknown): boolean => error instanceof AppError && error.code === 'SERVER_ERROR';

/** Carries a request out, as the only one who builds under `name`. Rejects where it was hindered and may be tried again. */
async function answer<Document extends object>(
  parts: RebuildDeps<Document>,
  request: Request,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { view, readStore, logger } = parts;
  // What another process began, or this one before a fault, is not gone on with: it may have been of another version.
  if (request.document.build !== null) await readStore.reset(besideOf(view, request.document.build));
  await write(readStore, { ...request.document, state: 'building', build: name, done: 0, events: 0 }, request);
  // Of two that began at once one was written.
  if ((await rebuildOf(readStore, view.name))?.build !== name) return;
  logger.info({ view: view.name }, 'rebuilding the view beside the live one');
  try {
    await build(parts, name, signal);
    if (!signal.aborted) logger.info({ view: view.name }, 'the view is rebuilt');
  } catch (error) {
    if (!(error instanceof TakenOver) && isPassing(error)) throw error;
    await readStore.reset(besideOf(view, name));
    if (error instanceof TakenOver) return;
    logger.error({ view: view.name, error: String(error) }, 'the view cannot be rebuilt; the live one stays');
    const known = await find(readStore, view.name);
    if (known?.document?.build !== name) return;
    await write(readStore, { ...known.document, state: 'failed', build: null, error: String(error) }, known);
  }
}

type Request = DocumentWrite<Rebuild> & { readonly document: Rebuild };

/** Whether a request is to be carried out here: nobody began, or who began does not go on. */
function createRequestClaim(): (request: Request, own: string | null) => boolean {
  let revision = -1;
  let looks = 0;
  return (request, own) => {
    const { state, build: begun } = request.document;
    looks = request.revision === revision ? looks + 1 : 0;
    ({ revision } = request);
    if (state === 'requested') return true;
    return state === 'building' && (begun === own || looks >= silentLooks);
  };
}

export interface Rebuilder {
  /** Looks for requests and carries them out, one after the other, until the signal aborts. */
  answer(signal: AbortSignal): Promise<void>;
  /**
   * Builds a view that has seen nothing as a rebuild does, and tells of it as one. It is left as it is where its events can be
   * caught up with at once, or one cannot be read. Rejects where it was hindered.
   */
  begin(signal: AbortSignal): Promise<void>;
}

/** Whether there is more for a view than what is handed over first. */
async function exceedsFirstBatch(
  { prefixes, eventStore }: Pick<RebuildDeps<object>, 'prefixes' | 'eventStore'>,
  signal: AbortSignal,
): Promise<boolean> {
  const end = await eventStore.lastPosition();
  if (end === null) return false;
  for await (const { position } of gathered(eventStore, { prefixes, after: null, signal })) return position < end;
  return false;
}

export function createRebuilder<Document extends object>(parts: RebuildDeps<Document>): Rebuilder {
  const { view, readStore, isAlone, logger, lookEveryMs = defaultLookEveryMs } = parts;
  const isOurs = createRequestClaim();
  const builds = createMutex();
  // Where one reading serves several views all look at the same moments, so that those asked for together are built together.
  const untilLookMs = (): number =>
    readStore.buildAhead === undefined ? lookEveryMs : lookEveryMs - (Date.now() % lookEveryMs);
  const pause = (signal: AbortSignal): Promise<void> =>
    delay(untilLookMs(), undefined, { signal, ref: false }).catch(() => undefined);
  let own: string | null = null;

  /** Carries out what is asked for, if that is for us. */
  const look = async (signal: AbortSignal): Promise<void> => {
    const request = await find(readStore, view.name);
    const document = request?.document ?? null;
    if (signal.aborted || request === undefined || document === null) return;
    const isLeft = isAlone && document.state === 'building';
    if (!isLeft && !isOurs({ ...request, document }, own)) return;
    own = `${view.name}_build_${randomBytes(5).toString('hex')}`;
    await answer(parts, { ...request, document }, own, signal);
  };

  return {
    async answer(signal) {
      let isAway = false;
      while (!signal.aborted) {
        try {
          await builds.run(() => look(signal));
          isAway = false;
        } catch (error) {
          if (!isAway) logger.warn({ view: view.name, error: String(error) }, 'a rebuild was hindered; trying again');
          isAway = true;
        }
        await pause(signal);
      }
    },

    async begin(signal) {
      if (!(await exceedsFirstBatch(parts, signal))) return;
      while (!signal.aborted) {
        const isOver = await builds.run(async () => {
          if ((await readStore.checkpoint(view)) !== null) return true;
          await requestRebuild(readStore, view.name, new Date().toISOString());
          await look(signal);
          return (await rebuildOf(readStore, view.name))?.state === 'failed';
        });
        if (isOver || (await readStore.checkpoint(view)) !== null) return;
        await pause(signal);
      }
    },
  };
}
