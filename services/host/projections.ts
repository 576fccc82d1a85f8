/** Every view that is made of events, and whatever else keeps a place in them: for who rebuilds, moves or checks them. */
import { auditView } from '#contracts/audit';
import { purgesView } from '#contracts/task';
import { publisherCheckpoint } from '#eventing/publisher';
import type { RecordedEvent } from '#event-store/event-store';
import type { LeasedWork } from '#leases/leases';
import { resetViewsAfterRewind, type RewindDeps } from '#eventing/store-rewind';
import { aboutEach, isForgotten, settled, type Projected } from '#eventing/projected';
import { startProjection, type ProjectionOptions } from '#eventing/projection';
import { createBuiltViews, type BuiltViews } from '#read-store/built-views';
import { createLateViews, type LateViews } from '#read-store/late-views';
import { asBuilt, type AnyView, type ViewStore } from '#read-store/read-store';
import { createViewBuilder, type BuiltDocuments, type ViewBuilder } from '#eventing/rebuild/view-builder';
import { AppError } from '#runtime/errors';
import { accountProjections } from '../accounts/accounts-views.js';
import { contactsProjection } from '../delivery/contact-view.js';
import { deliveriesProjection } from '../delivery/delivery-view.js';
import { executionsProjection } from '../execution/execution-view.js';
import { figuresProjection } from '../execution/figures-view.js';
import { foldedDaysProjection } from '../execution/folded-days-view.js';
import { droppedCheckpoint } from '../execution/retention/drop-events.js';
import { recentRunsProjection } from '../execution/recent-runs-view.js';
import { shadowsProjection } from '../execution/shadow/shadow-view.js';
import { skippedSlotsProjection } from '../execution/skipped-slots-view.js';
import { undeliveredProjection } from '../execution/undelivered-view.js';
import { schedulesProjection } from '../scheduling/schedule-view.js';
import { reconcilerCheckpoint } from '../scheduling/schedule-reconciler.js';
import { tasksProjection } from '../tasks/task-view.js';

type Parts = Pick<ProjectionOptions, 'eventStore' | 'readStore' | 'sharedState' | 'leases' | 'logger'>;

export interface KeptView {
  readonly name: string;
  readonly view: AnyView;
  /** Keeps it from now on, as the service it belongs to does. */
  keep(parts: Parts): LeasedWork;
  /** Begins it anew, for who hands over every event from the first on and alone keeps it meanwhile. */
  build(readStore: ViewStore): Promise<ViewBuilder>;
  /** Whether events of the stream feed it. */
  isFedBy(stream: string): boolean;
  /** Builds it under another name, for who hands over its own events from the first on. */
  builder(built: string, documents: BuiltDocuments): ViewBuilder;
  /** Its documents by id as these events alone make them, all at once: what an audit holds the kept view against. */
  replay(events: readonly RecordedEvent[]): ReadonlyMap<string, object>;
}

function replayed<Document extends object>(
  projected: Projected<Document>,
  events: readonly RecordedEvent[],
): ReadonlyMap<string, Document> {
  const { prefixes, reduce, forgets, sums } = projected;
  const documents = new Map<string, Document>();
  const put = (id: string, document: Document | null): void => {
    if (document === null) documents.delete(id);
    else documents.set(id, document);
  };
  for (const event of events) {
    if (!prefixes.some((prefix) => event.stream.startsWith(prefix))) continue;
    for (const { id, goes } of aboutEach(projected, [event])) {
      const before = documents.get(id) ?? null;
      const after = goes ? null : settled(reduce(before, event));
      put(id, after);
      if (sums === undefined || (before === null && after === null)) continue;
      const step = { revision: event.position, before, after };
      for (const sum of sums.idsOf(step)) {
        const changed = sums.changed(documents.get(sum) ?? null, sum, [step]);
        if (changed !== null) put(sum, changed.document);
      }
    }
    for (const where of forgets?.(event) ?? []) {
      for (const [known, document] of documents) if (isForgotten(document, where)) documents.delete(known);
    }
  }
  return documents;
}

function kept<Document extends object>(projected: Projected<Document>): KeptView {
  const { view, prefixes } = projected;
  const isFedBy = (stream: string): boolean => prefixes.some((prefix) => stream.startsWith(prefix));
  return {
    name: view.name,
    view,
    keep: (parts) => startProjection({ ...parts, ...projected }),
    async build(readStore) {
      await readStore.reset(view);
      const builder = createViewBuilder(projected, view, readStore);
      return {
        ...builder,
        apply: (events) => builder.apply(events.filter(({ stream }) => isFedBy(stream))),
        async flush(position) {
          await builder.flush(position);
          await builder.forget(readStore);
        },
      };
    },
    isFedBy,
    builder: (built, documents) => createViewBuilder(projected, asBuilt(view, built), documents),
    replay: (events) => replayed(projected, events),
  };
}

export const keptViews: readonly KeptView[] = [
  kept(tasksProjection),
  kept(schedulesProjection),
  kept(executionsProjection),
  kept(undeliveredProjection),
  kept(shadowsProjection),
  kept(skippedSlotsProjection),
  kept(recentRunsProjection),
  kept(figuresProjection),
  kept(foldedDaysProjection),
  kept(deliveriesProjection),
  kept(contactsProjection),
  ...accountProjections.map((projected) => kept(projected)),
];

/** Whether all of them can answer. Called at the start, before anything is appended. */
export function builtViews({ readStore, eventStore }: Pick<Parts, 'readStore' | 'eventStore'>): BuiltViews & LateViews {
  const views = keptViews.map(({ view }) => view);
  return { ...createBuiltViews(readStore, eventStore, views), ...createLateViews(readStore, eventStore, views) };
}

/** Who publishes keeps its place here. */
export const publications: readonly AnyView[] = ['tasks', 'scheduling', 'execution', 'delivery'].map(
  publisherCheckpoint,
);

/** Who goes through everything once more, and finds nothing to do where all is well. */
export const lookedThroughAgain: readonly AnyView[] = [reconcilerCheckpoint, droppedCheckpoint, auditView, purgesView];

/**
 * Before anything is appended: an older copy of the events that has grown again may hide what a view has seen besides. Each
 * follower of the events looks again, so a server that does not answer now is no reason not to start.
 */
export async function resetRewoundViews(parts: RewindDeps): Promise<void> {
  try {
    await resetViewsAfterRewind(parts, [...keptViews.map(({ view }) => view), ...publications, ...lookedThroughAgain]);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'SERVER_ERROR') throw error;
    parts.logger.warn({ error: String(error) }, 'whether the events are those that views have seen is checked later');
  }
}
