/** Folds what is old enough, day by day and task by task, a little at a time: a sweep under a lease. */
import { deliveriesView } from '#contracts/delivery';
import { dayMs, dayOf, figuresView, lastMomentOf } from '#contracts/retention';
import { schedulesView } from '#contracts/schedule';
import type { StoredStreams } from '#event-store/event-store';
import type { Sweep } from '#eventing/service';
import { createBuiltViews, type BuiltViews } from '#read-store/built-views';
import type { FieldFilter, PageQuery, ViewDefinition } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Logger } from '#runtime/logger';
import { countFoldedDay, setArchiveFailing } from '#runtime/metrics';
import { foldingState, foldingStateKey, type FoldingState } from '#contracts/folding-state';
import type { SharedState } from '#shared-state/shared-state';
import { undeliveredView } from '../undelivered-view.js';
import { ArchiveFailed, foldDayOfRuns, type FoldDeps, type Folding } from './fold-runs.js';
import { foldDayOfDeliveries } from './fold-deliveries.js';

const lookEveryMs = 10_000;
const documentsAtOnce = 200;

/** What an installation keeps, and where it goes. */
export interface Retention {
  /** 0: for ever. */
  readonly keepRunsDays: number;
  readonly keepDeliveriesDays: number;
  readonly archiveDir: string | null;
  readonly stored: StoredStreams;
}

export const RETENTION = Symbol('Retention');

export interface FoldingDeps extends FoldDeps, Retention {
  readonly sharedState: SharedState;
  readonly logger: Logger;
  readonly stored: StoredStreams;
}

/** The last day that is older than so many days as a whole; null: none is to be folded. */
export function lastDayToFold(nowMs: number, keepDays: number): string | null {
  return keepDays === 0 ? null : dayOf(toTimestamp(nowMs - (keepDays + 1) * dayMs));
}

/** Deliveries stay for as long as the runs that they tell of: what a run has asked for is looked up there. */
export function deliveriesKeptDays({
  keepRunsDays,
  keepDeliveriesDays,
}: Pick<FoldingDeps, 'keepRunsDays' | 'keepDeliveriesDays'>): number {
  if (keepDeliveriesDays === 0 || keepRunsDays === 0) return 0;
  return Math.max(keepRunsDays, keepDeliveriesDays);
}

interface Old {
  readonly notificationId: string;
}

/** What of a view is old, the oldest first. Documents go while it is read, as days are folded. */
async function* oldDocuments<Document extends Old & { readonly id: string }>(
  { readStore }: Pick<FoldDeps, 'readStore'>,
  view: ViewDefinition<Document>,
  field: keyof Document & string,
  until: string,
): AsyncGenerator<Document> {
  const where: FieldFilter[] = [{ field, from: '', to: until }];
  let query: PageQuery = {
    where,
    sort: [{ field, descending: false }],
    limit: documentsAtOnce,
    offset: 0,
    count: false,
  };
  for (;;) {
    const { documents } = await readStore.page(view, query);
    yield* documents;
    const last = documents.at(-1);
    if (last === undefined || documents.length < documentsAtOnce) return;
    query = { ...query, behind: { values: [String(last[field])], id: last.id } };
  }
}

interface Swept {
  readonly days: number;
  readonly events: number;
  /** Tasks of which a day waits for something that is open. */
  readonly waiting: number;
}

/** `days`: of tasks, in the order of days. A task of which a day waits is passed over with all later days. */
async function foldAll(
  days: AsyncIterable<{ readonly taskId: string; readonly day: string }>,
  fold: (taskId: string, day: string) => Promise<Folding>,
): Promise<Swept> {
  const done = new Set<string>();
  const waiting = new Set<string>();
  let [count, events] = [0, 0];
  for await (const { taskId, day } of days) {
    const key = `${taskId}/${day}`;
    if (done.has(key) || waiting.has(taskId)) continue;
    done.add(key);
    const folding = await fold(taskId, day);
    if (folding.kind === 'waits') waiting.add(taskId);
    if (folding.kind !== 'folded') continue;
    count += 1;
    events += folding.events;
  }
  return { days: count, events, waiting: waiting.size };
}

async function* daysOfRuns(deps: FoldingDeps, last: string) {
  for await (const { notificationId: taskId, from } of oldDocuments(deps, figuresView, 'hour', lastMomentOf(last))) {
    yield { taskId, day: dayOf(from) };
  }
}

async function* daysOfDeliveries(deps: FoldingDeps, last: string) {
  for await (const { notificationId: taskId, createdAt } of oldDocuments(
    deps,
    deliveriesView,
    'createdAt',
    lastMomentOf(last),
  )) {
    yield { taskId, day: dayOf(createdAt) };
  }
}

/** Once. Rejects with `ArchiveFailed`, and as the stores do: the days before are folded then. */
export async function foldOldDays(deps: FoldingDeps): Promise<Record<'runs' | 'deliveries', Swept>> {
  const nowMs = deps.clock.now();
  const none = { days: 0, events: 0, waiting: 0 };
  const lastOfRuns = lastDayToFold(nowMs, deps.keepRunsDays);
  const runs =
    lastOfRuns === null
      ? none
      : await foldAll(daysOfRuns(deps, lastOfRuns), async (taskId, day) => {
          const folding = await foldDayOfRuns(deps, taskId, day);
          if (folding.kind === 'folded') countFoldedDay('runs');
          return folding;
        });
  const lastOfDeliveries = lastDayToFold(nowMs, deliveriesKeptDays(deps));
  const deliveries =
    lastOfDeliveries === null
      ? none
      : await foldAll(daysOfDeliveries(deps, lastOfDeliveries), async (taskId, day) => {
          const folding = await foldDayOfDeliveries(deps, taskId, day);
          if (folding.kind === 'folded') countFoldedDay('deliveries');
          return folding;
        });
  return { runs, deliveries };
}

function nextDayMs({ now }: Clock): number {
  return (Math.floor(now() / dayMs) + 1) * dayMs;
}

/** Says where it stands, for probes and `meerkat disk`: they may be in another process. */
async function tell({ sharedState, clock }: FoldingDeps, state: Omit<FoldingState, 'at'>): Promise<void> {
  const known = (await sharedState.load(foldingState, [foldingStateKey])).get(foldingStateKey);
  const value = { ...state, at: toTimestamp(clock.now()) };
  if (known?.value?.archiveFault === value.archiveFault && known.value.nextAt === value.nextAt) return;
  await sharedState.save(foldingState, [{ key: foldingStateKey, version: (known?.version ?? 0) + 1, value }]);
}

/** Views that folding asks: one that is still being made knows of nothing that is open. */
const askedViews = [figuresView, schedulesView, undeliveredView, deliveriesView];

/** From the first start on, then whenever a day has become old enough. */
export function foldingSweep(deps: FoldingDeps): Sweep {
  const { logger, clock, readStore, eventStore } = deps;
  const built: BuiltViews = createBuiltViews(readStore, eventStore, askedViews);
  let archiveFault: string | null = null;
  const archiveState = async (fault: string | null): Promise<void> => {
    if (fault !== archiveFault) {
      if (fault === null) logger.info({}, 'the archive can be written again');
      else logger.error({ error: fault }, 'the archive cannot be written: nothing is folded or dropped until it can');
    }
    archiveFault = fault;
    setArchiveFailing(fault !== null);
    await tell(deps, { archiveFault: fault, nextAt: toTimestamp(nextDayMs(clock)) });
  };
  return {
    name: 'folding',
    everyMs: lookEveryMs,
    async sweep() {
      if ((await built.unbuilt(askedViews.map(({ name }) => name))).length > 0) return;
      try {
        const { runs, deliveries } = await foldOldDays(deps);
        await archiveState(null);
        if (runs.days + deliveries.days === 0) return;
        logger.info({ runs, deliveries }, 'days folded: what is left of them is their statistics');
      } catch (error) {
        if (!(error instanceof ArchiveFailed)) throw error;
        await archiveState(error.message);
      }
    },
  };
}
