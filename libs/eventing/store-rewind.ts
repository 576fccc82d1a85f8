/**
 * A rewind of the event store: restored from an older copy, it lacks events that views were built from. Such a view is reset
 * and built again from the events that exist.
 */
import { sleep } from '#concurrency/sleep';
import type { EventStore } from '#event-store/event-store';
import type { Logger } from '#runtime/logger';
import type { AnyView, ViewStore } from '#read-store/read-store';

export interface RewindDeps {
  readonly eventStore: EventStore;
  readonly readStore: ViewStore;
  readonly logger: Logger;
  readonly secondLookAfterMs?: number;
}

const secondLookAfterMs = 2_000;

/** Why the view must have seen events that the store no longer holds; null where nothing indicates it. */
export async function detectStoreRewind(
  { eventStore, readStore }: Omit<RewindDeps, 'logger'>,
  view: AnyView,
): Promise<string | null> {
  const seen = await readStore.seen(view);
  if (seen === null) return null;
  // Read after the checkpoint: the view's projection may advance between the two.
  const end = await eventStore.lastPosition();
  if (end === null || seen.position > end) return `it has seen position ${seen.position}, the last is ${end ?? 'none'}`;
  const { event } = seen;
  if (event === null) return null;
  for await (const found of eventStore.read(event.stream, event.revision, { includesPurged: true })) {
    if (found.id === event.id && found.position === event.position) return null;
    // It was dropped with its day: the first events of the stream are gone, which says nothing of a rewind.
    if (found.revision > event.revision) return null;
    return `${event.stream}@${event.revision} is ${found.id}, and was ${event.id}`;
  }
  return `${event.stream}@${event.revision} is not there any more`;
}

/**
 * Resets the views that have seen events that the store no longer holds. One look is no proof on a cluster, where a member
 * that has just begun to lead may still be reading its own log: it is believed once it is still so some seconds later. The
 * wait is one for all of them.
 */
export async function resetViewsAfterRewind(deps: RewindDeps, views: readonly AnyView[]): Promise<void> {
  const suspected: AnyView[] = [];
  for (const view of views) if ((await detectStoreRewind(deps, view)) !== null) suspected.push(view);
  if (suspected.length === 0) return;
  await sleep(deps.secondLookAfterMs ?? secondLookAfterMs);
  for (const view of suspected) {
    const why = await detectStoreRewind(deps, view);
    if (why === null) continue;
    deps.logger.warn(
      { view: view.name, why },
      'the event store is an older copy than what was made of it: what it does not hold is forgotten',
    );
    await deps.readStore.reset(view);
  }
}

/** The same of one view. */
export const resetAfterRewind = (deps: RewindDeps, view: AnyView): Promise<void> => resetViewsAfterRewind(deps, [view]);
