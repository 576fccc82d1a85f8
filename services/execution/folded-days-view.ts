/** The view `folded_days`: of which task and day a run or delivery was of which nothing else is left. */
import { dayStart, foldedDaysView, type FoldedDayDocument, type FoldEvent } from '#contracts/retention';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { forgettingPurged } from '#eventing/forget-purged';

const kindOf = ({ type }: FoldEvent): FoldedDayDocument['kind'] => (type === 'runs.folded' ? 'runs' : 'deliveries');

function documentOf(recorded: RecordedEvent): FoldedDayDocument {
  const event = decodeEvent<FoldEvent>(recorded);
  const { taskId, day } = event.data;
  const kind = kindOf(event);
  return {
    id: `${taskId}/${day}/${kind}`,
    organizationId: recorded.metadata.organizationId,
    notificationId: taskId,
    kind,
    from: dayStart(day),
    ids: event.type === 'runs.folded' ? event.data.manualRunIds : event.data.deliveryIds,
  };
}

export const foldedDaysProjection = forgettingPurged<FoldedDayDocument>(
  {
    view: foldedDaysView,
    prefixes: ['stats-'],
    idOf: (recorded) => documentOf(recorded).id,
    reduce: (_, recorded) => documentOf(recorded),
  },
  'notificationId',
);
