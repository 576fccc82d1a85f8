/** The view `schedules`: what is due next per task, and which runs have no result yet. */
import { backsOff, type RunEvent } from '#contracts/run';
import { lastMomentOf, type FoldEvent } from '#contracts/retention';
import { schedulesView, type DueRun, type ScheduleDocument, type ScheduleEvent } from '#contracts/schedule';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { shardOf } from '#leases/leases';
import { forgettingPurged } from '#eventing/forget-purged';
import { pacedDueAt } from './domain/schedule.js';

const oldest = (pending: readonly DueRun[]): string | null =>
  pending.map(({ queuedAt }) => queuedAt).toSorted()[0] ?? null;

function withPending(document: ScheduleDocument, pending: DueRun[]): ScheduleDocument | null {
  // A schedule that makes nothing due and has no open run has nothing to answer for: the timer need not see it.
  const over = document.nextDueAt === null && pending.length === 0;
  return over ? null : { ...document, pending, pendingSince: oldest(pending) };
}

/** The timer looks at the task when it is due by this pace; where a slot waits, as soon as the run before it has ended. */
function paced(document: ScheduleDocument, slow: boolean): ScheduleDocument {
  const { backsOff: _backsOff, ...rest } = document;
  const { plan, pending } = document;
  const isFree = pending.every(({ trigger }) => trigger !== 'schedule');
  const nextDueAt = (isFree ? plan.queuedSlotAt : undefined) ?? pacedDueAt(plan, slow);
  return slow ? { ...rest, nextDueAt, backsOff: true } : { ...rest, nextDueAt };
}

function afterScheduleEvent(document: ScheduleDocument | null, recorded: RecordedEvent): ScheduleDocument | null {
  const { type, data } = decodeEvent<ScheduleEvent>(recorded);
  if (type === 'schedule.forgotten') return null;
  const pending = document?.pending ?? [];
  // A new plan is a new beginning: another schedule, other code, or a task that was resumed.
  const slow = type !== 'schedule.planned' && document?.backsOff === true;
  const next: ScheduleDocument = {
    taskId: data.plan.taskId,
    organizationId: recorded.metadata.organizationId,
    plan: data.plan,
    nextDueAt: data.plan.nextDueAt,
    shard: document?.shard ?? shardOf(data.plan.taskId),
    pending,
    pendingSince: null,
    metadata: recorded.metadata,
  };
  const open = 'run' in data ? [...pending, data.run] : pending;
  return withPending(paced({ ...next, pending: open }, slow), open);
}

/** A day is folded once none of its runs is open: what seems so has lost the event that ended it. */
function afterFold(document: ScheduleDocument | null, recorded: RecordedEvent): ScheduleDocument | null {
  if (document === null || recorded.type !== 'runs.folded') return document;
  const until = lastMomentOf(decodeEvent<FoldEvent>(recorded).data.day);
  const pending = document.pending.filter(({ queuedAt }) => queuedAt > until);
  if (pending.length === document.pending.length) return document;
  return withPending(paced({ ...document, pending }, document.backsOff === true), pending);
}

function after(document: ScheduleDocument | null, recorded: RecordedEvent): ScheduleDocument | null {
  if (recorded.stream.startsWith('stats-')) return afterFold(document, recorded);
  if (recorded.stream.startsWith('schedule-')) return afterScheduleEvent(document, recorded);
  const event = decodeEvent<RunEvent>(recorded);
  if (document === null || event.type !== 'run.recorded') return document;
  const { runId } = event.data.result;
  const pending = document.pending.filter((run) => run.runId !== runId);
  return withPending(paced({ ...document, pending }, backsOff(event.data.alert)), pending);
}

export const schedulesProjection = forgettingPurged<ScheduleDocument>(
  {
    view: schedulesView,
    prefixes: ['schedule-', 'run-', 'stats-'],
    idOf: ({ stream }) => stream.slice(stream.indexOf('-') + 1),
    reduce: after,
  },
  null,
);
