/** What views of runs make of a folded day: the runs that had ended by its end are gone, whatever is left of their events. */
import { lastMomentOf, type FoldEvent } from '#contracts/retention';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import type { FieldFilter } from '#read-store/read-store';

export const isOfFold = ({ type }: Pick<RecordedEvent, 'type'>): boolean =>
  type === 'runs.folded' || type === 'deliveries.folded';

/**
 * Of views that know their entries by task and times. A day is folded once none of its runs is open, so that what has not ended
 * by then can only come of events that are left without their end.
 */
export function runsUntil(recorded: RecordedEvent): readonly (readonly FieldFilter[])[] {
  if (recorded.type !== 'runs.folded') return [];
  const { taskId, day } = decodeEvent<FoldEvent>(recorded).data;
  const queued = [
    { field: 'notificationId', equals: taskId },
    { field: 'queuedAt', to: lastMomentOf(day) },
  ];
  return [
    [...queued, { field: 'finishedAt', to: lastMomentOf(day) }],
    [...queued, { field: 'finishedAt', equals: null }],
  ];
}
