/** What views of slots and runs make of a schedule that ended with its purged task: what came between the two goes as well. */
import { scheduleStream } from '#contracts/schedule';
import type { RecordedEvent } from '#event-store/event-store';
import type { FieldFilter } from '#read-store/read-store';
import { runsUntil } from './retention/folded-runs.js';

/** Of views that know their entries by task and times. */
export function forgottenBySchedule(recorded: RecordedEvent): readonly (readonly FieldFilter[])[] {
  const { type, stream } = recorded;
  if (type !== 'schedule.forgotten') return runsUntil(recorded);
  return [[{ field: 'notificationId', equals: stream.slice(scheduleStream('').length) }]];
}
