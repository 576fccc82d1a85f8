/** The view `skipped_slots`: what lists show of slots that have no run, a row of the same reason as one entry. */
import { queuedExecution, skippedSlotsView, type ExecutionDocument } from '#contracts/run';
import { slotRunId, type ScheduleEvent, type SkipReason } from '#contracts/schedule';
import { decodeEvent } from '#eventing/codec';
import { forgottenBySchedule } from './forgotten-slots.js';
import type { RecordedEvent } from '#event-store/event-store';
import { forgettingPurged } from '#eventing/forget-purged';

/** Why slots have no run, as the end of a sentence. */
export const whySkipped: Readonly<Record<SkipReason, string>> = {
  overlap: 'the run before was still going (`overlap: skip`, or one slot was waiting already)',
  catch_up_none: 'it was over before it could be fired, and `catchUp: none` leaves such slots out',
  missed: 'this instance was not running then, or was far behind',
  backs_off: 'the task backs off: its runs had to be ended from outside, again and again',
};

/** The row, as it is after this event. Events of earlier versions are rows of their own. */
function rowOf(recorded: RecordedEvent) {
  const event = decodeEvent<ScheduleEvent>(recorded);
  if (event.type !== 'slots.skipped') return null;
  const { plan, slots, reason } = event.data;
  const { from, count } = plan.skipping ?? { from: slots.from, count: slots.count };
  return { runId: slotRunId(plan.taskId, Date.parse(from)), taskId: plan.taskId, from, to: slots.to, count, reason };
}

export const skippedSlotsProjection = forgettingPurged<ExecutionDocument>(
  {
    view: skippedSlotsView,
    prefixes: ['schedule-', 'stats-'],
    forgets: forgottenBySchedule,
    idOf: (recorded) => (recorded.type === 'slots.skipped' ? (rowOf(recorded)?.runId ?? null) : null),
    reduce(document, recorded) {
      const row = rowOf(recorded);
      if (row === null) return document;
      const { runId, taskId, from, to, count, reason } = row;
      const { organizationId, at } = recorded.metadata;
      const slot = {
        runId,
        taskId,
        trigger: 'schedule',
        scheduledFor: from,
        queuedAt: to,
        force: false,
        dryRun: false,
      } as const;
      return {
        ...queuedExecution(slot, organizationId),
        status: 'skipped',
        error: { reason, message: `No run, because ${whySkipped[reason]}.` },
        finishedAt: at,
        count,
      };
    },
  },
  'notificationId',
);
