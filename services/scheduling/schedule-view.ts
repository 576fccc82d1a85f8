/** The view `schedules`: what is due next per task, and which runs have no result yet. */
import type { RunEvent } from '#contracts/run';
import type { DueRun, ScheduleDocument, ScheduleEvent } from '#contracts/schedule';
import { decodeEvent } from '#event-store/codec';
import type { RecordedEvent } from '#event-store/event-store';
import type { JsonObject } from '#runtime/json';

export const scheduleViewPrefixes = ['schedule-', 'run-'] as const;

export function idOf({ stream }: RecordedEvent): string {
  return stream.slice(stream.indexOf('-') + 1);
}

const oldest = (pending: readonly DueRun[]): string | null =>
  pending.map(({ queuedAt }) => queuedAt).toSorted()[0] ?? null;

function withPending(document: ScheduleDocument, pending: DueRun[]): ScheduleDocument | null {
  const over = document.plan.nextDueAt === null && !document.plan.active && pending.length === 0;
  // A stopped schedule without an open run has nothing left to answer for.
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
    pending,
    pendingSince: null,
    metadata: recorded.metadata as unknown as JsonObject,
  };
  return withPending(next, 'run' in data ? [...pending, data.run] : pending);
}

/** Pure: the same events give the same bytes. */
export function reduce(document: JsonObject | null, recorded: RecordedEvent): JsonObject | null {
  const schedule = document as unknown as ScheduleDocument | null;
  if (recorded.stream.startsWith('schedule-')) {
    return afterScheduleEvent(schedule, recorded) as unknown as JsonObject | null;
  }
  const event = decodeEvent<RunEvent>(recorded);
  if (schedule === null || event.type !== 'run.recorded') return document;
  const { runId } = event.data.result;
  if (!schedule.pending.some((run) => run.runId === runId)) return document;
  const pending = schedule.pending.filter((run) => run.runId !== runId);
  return withPending(schedule, pending) as unknown as JsonObject | null;
}
