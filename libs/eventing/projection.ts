/** A projection subscribes to the events and maintains one view: documents and checkpoint in one write, guarded by position. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMutex } from '#concurrency/mutex';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { startFollower } from './follower.js';
import type { LeasedWork, Leases } from '#leases/leases';
import type { JsonObject } from '#runtime/json';
import type { Logger } from '#runtime/logger';
import type { SharedState } from '#shared-state/shared-state';
import { purgedTask } from './forget-purged.js';
import { projectBatch, type Projected } from './projected.js';
import { sumWrites, sumWritesOfPurge, type Step } from './sums.js';
import { awaitedOf } from '#read-store/awaited-views';
import type { AnyView, DocumentWrite, ForgottenDocuments, ViewStore } from '#read-store/read-store';
import type { BatchDelay } from './coalesce.js';
import { resetAfterRewind } from './store-rewind.js';
import { createRebuilder, type LiveView } from './rebuild/rebuild.js';

export interface ProjectionOptions<Document extends object = JsonObject> extends Projected<Document> {
  readonly eventStore: EventStore;
  readonly readStore: ViewStore;
  /** Holds the requests to rebuild the view. */
  readonly sharedState: SharedState;
  readonly leases: Leases;
  readonly logger: Logger;
  /** How often requests to rebuild it are looked for; every two seconds by default. */
  readonly lookEveryMs?: number;
  /** Called after each write with the documents written. */
  saved?(writes: readonly DocumentWrite<Document>[]): void;
}

type Forgetting = Pick<Projected, 'forgets' | 'removes'>;

function forgottenBy({ forgets }: Forgetting, event: RecordedEvent | undefined): ForgottenDocuments[] {
  if (forgets === undefined || event === undefined) return [];
  return forgets(event).map((where) => ({ where, revision: event.position }));
}

/** Events of one part; documents of so many are written in some milliseconds. */
const partLimit = 128;

/**
 * Each part but the last ends before an event that takes documents away, or with one that makes others be forgotten: what
 * goes was written before. Long ones end earlier.
 */
export function partsOf(projected: Forgetting, events: readonly RecordedEvent[]): RecordedEvent[][] {
  const parts: RecordedEvent[][] = [[]];
  for (const event of events) {
    if (parts.at(-1)?.length === partLimit || (projected.removes?.(event).length ?? 0) > 0) parts.push([]);
    parts.at(-1)?.push(event);
    if (forgottenBy(projected, event).length > 0) parts.push([]);
  }
  return parts;
}

const isOfPurge = (event: RecordedEvent | undefined): boolean => event !== undefined && purgedTask(event) !== null;

/** Documents that several events change within this time are written once, and a transaction holds many. */
const collectMs = 40;
/** Where so many came meanwhile, longer: a page of the file that holds several of them is then written once. */
const manyEvents = 8;
const collectManyMs = 200;
/** Most of what a view shows that is read by sweeps alone is over before that, and then not written at all. */
const forSweeps = { collectMs: 2_000, mostEvents: 2_000 };

/** Who waits for the view to see a position is not kept waiting. */
function delayOf(readStore: ViewStore, view: AnyView): BatchDelay {
  const awaited = awaitedOf(readStore, view);
  return {
    ms(tookMs, position, count) {
      if (awaited.position > position) return 0;
      if (view.isReadBySweeps === true) return Math.max(forSweeps.collectMs, tookMs);
      return Math.max(count < manyEvents ? collectMs : collectManyMs, tookMs);
    },
    onCut: (end) => awaited.onFurther(end),
    ...(view.isReadBySweeps === true ? { mostEvents: forSweeps.mostEvents } : {}),
  };
}

export function startProjection<Document extends object>(options: ProjectionOptions<Document>): LeasedWork {
  const { view, readStore, saved } = options;
  const mutex = createMutex();
  let seen: number | null = null;
  let lastEvent: number | null = null;
  const move = (position: number, events: readonly RecordedEvent[]): void => {
    seen = position;
    lastEvent = events.at(-1)?.position ?? lastEvent;
  };
  const live: LiveView = {
    mutex,
    seen: () => seen,
    lastEvent: () => lastEvent,
    async replaced(position, events) {
      move(position, events);
      if (saved === undefined) return;
      const ids = new Set(events.map(options.idOf).filter((id) => id !== null));
      saved([...(await readStore.load(view, [...ids])).values()]);
    },
  };
  /** Before what they add up: after a crash in between they know by their revisions what they have seen. */
  const saveSums = async (writes: readonly DocumentWrite<Document>[]): Promise<void> => {
    if (writes.length > 0) await readStore.save(view, writes, null, seen);
  };
  const project = async (events: readonly RecordedEvent[]): Promise<DocumentWrite<Document>[]> => {
    if (options.sums === undefined) return projectBatch(options, events);
    const steps: Step<Document>[] = [];
    const writes = await projectBatch(options, events, (step) => steps.push(step));
    await saveSums(await sumWrites(options, steps));
    return writes;
  };
  const rebuilder = createRebuilder({ ...options, live, isAlone: options.leases.isAlone });
  return startFollower({
    ...options,
    name: `view-${view.name}`,
    delay: delayOf(readStore, view),
    async after(signal) {
      const look = () => mutex.run(async () => (lastEvent = seen = await readStore.checkpoint(view)));
      await resetAfterRewind(options, view);
      const known = await look();
      if (known !== null) return known;
      await rebuilder.begin(signal);
      return look();
    },
    handle: ({ events, position }) =>
      mutex.run(async () => {
        // A rebuilt view that replaced this one may have seen more.
        if (seen !== null && position <= seen) return;
        const from = seen ?? -Infinity;
        const unseen = events.filter((event) => event.position > from);
        // What an event makes others forget was written before it, and what comes behind it stays.
        const parts = partsOf(options, unseen);
        for (const some of parts.slice(0, -1)) {
          const writes = await project(some);
          await readStore.save(view, writes, null, seen);
          saved?.(writes);
          for (const forgotten of forgottenBy(options, some.at(-1))) {
            await saveSums(isOfPurge(some.at(-1)) ? await sumWritesOfPurge(options, forgotten) : []);
            await readStore.forget(view, forgotten);
          }
          await nextTurn();
        }
        const writes = await project(parts.at(-1) ?? []);
        await readStore.save(view, writes, position, seen, unseen.at(-1));
        move(position, unseen);
        saved?.(writes);
      }),
    alongside: rebuilder.answer,
  });
}
