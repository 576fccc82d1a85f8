/**
 * An event store that was put back from an older copy has other events than what was made of them has seen. What has seen
 * such events is forgotten, and comes anew from those that there are.
 */
import type { EventStore } from '#event-store/event-store';
import type { Logger } from '#runtime/logger';
import type { AnyView, ViewStore } from '#read-store/read-store';

export interface HistoryParts {
  readonly eventStore: EventStore;
  readonly readStore: ViewStore;
  readonly logger: Logger;
}

/** What shows that the view has seen other events than there are; null: nothing does. */
export async function otherHistoryOf(
  { eventStore, readStore }: Omit<HistoryParts, 'logger'>,
  view: AnyView,
): Promise<string | null> {
  const seen = await readStore.seen(view);
  if (seen === null) return null;
  // Asked for behind the checkpoint: whoever keeps the view meanwhile may go on.
  const end = await eventStore.lastPosition();
  if (end === null || seen.position > end) return `it has seen position ${seen.position}, the last is ${end ?? 'none'}`;
  const { event } = seen;
  if (event === null) return null;
  for await (const found of eventStore.read(event.stream, event.revision)) {
    if (found.id === event.id && found.position === event.position) return null;
    return `${event.stream}@${event.revision} is ${found.id}, and was ${event.id}`;
  }
  return `${event.stream}@${event.revision} is not there any more`;
}

/** Drops the view where it has seen other events than there are. */
export async function forgetOtherHistory(parts: HistoryParts, view: AnyView): Promise<void> {
  const why = await otherHistoryOf(parts, view);
  if (why === null) return;
  parts.logger.warn(
    { view: view.name, why },
    'the event store is an older copy than what was made of it: what it does not hold is forgotten',
  );
  await parts.readStore.reset(view);
}
