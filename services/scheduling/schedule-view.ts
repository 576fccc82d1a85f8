/** The view `schedules`: what is due next per task, and which runs have no result yet. */
import type { RunEvent } from '#contracts/run';
import type { DueRun, ScheduleDocument, ScheduleEvent } from '#contracts/schedule';
import { decodeEvent } from '#event-store/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { shardOf } from '#leases/leases';

export const scheduleViewPrefixes = ['schedule-', 'run-'] as const;

export function idOf({ stream }: RecordedEvent): string {
  return stream.slice(stream.indexOf('-') + 1);
}

const oldest = (pending: readonly DueRun[]): string | null =>
  pending.map(({ queuedAt }) => queuedAt).toSorted()[0] ?? null;

function withPending(document: ScheduleDocument, pending: DueRun[]): ScheduleDocument | null {
  // A schedule that makes nothing due and has no open run has nothing to answer for: the timer need not see it.
  const over = document.plan.nextDueAt === null && pending.length === 0;
  return over ? null : { ...document, pending, pendingSince: oldest(pending) };
}

function afterScheduleEvent(document: ScheduleDocument | null, recorded: RecordedEvent): ScheduleDocument | null {
  const { data } = decodeEvent<ScheduleEvent>(recorded);
  const pending = document?.pending ?? [];
  const next: ScheduleDocument = {
    taskId: data.plan.taskId,
    organizationId: recorded.metadata.organizationId,
    plan: data.plan,
    nextDueAt: data.plan.nextDueAt,
    shard: shardOf(data.plan.taskId),
    pending,
    pendingSince: null,
    metadata: recorded.metadata,
  };
  return withPending(next, 'run' in data ? [...pending, data.run] : pending);
}

/** Pure: the same events give the same bytes. */
export function reduce(document: ScheduleDocument | null, recorded: RecordedEvent): ScheduleDocument | null {
  if (recorded.stream.startsWith('schedule-')) return afterScheduleEvent(document, recorded);
  const event = decodeEvent<RunEvent>(recorded);
  if (document === null || event.type !== 'run.recorded') return document;
  const { runId } = event.data.result;
  if (!document.pending.some((run) => run.runId === runId)) return document;
  const pending = document.pending.filter((run) => run.runId !== runId);
  return withPending(document, pending);
}
