/** A task as it was: the document that the view held at a moment, reduced from the events up to then. */
import { runStream } from '#contracts/run';
import { scheduleStream } from '#contracts/schedule';
import { isGone, taskStream, type TaskDocument } from '#contracts/task';
import { taskNotThere, type TaskMoment } from '#contracts/task-history';
import { lastBefore, revisionAt } from '#eventing/events-by-time';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import { tasksProjection } from './task-view.js';

export interface PastTask {
  readonly taskId: string;
  readonly organizationId: string;
  readonly moment: TaskMoment;
}

/** The last event of the type up to that time; any type where that is null. */
async function lastUntil(
  eventStore: EventStore,
  stream: string,
  time: string,
  type: string | null,
): Promise<RecordedEvent | null> {
  const behind = await revisionAt(eventStore, stream, Date.parse(time) + 1);
  return lastBefore(eventStore, stream, behind, (recorded) => type === null || recorded.type === type);
}

/** The task's own events up to the moment, and the time of the moment: a revision lasts until the next one. */
function eventsUntil(
  events: readonly RecordedEvent[],
  moment: TaskMoment,
  now: string,
): { readonly until: readonly RecordedEvent[]; readonly time: string } {
  if ('at' in moment) return { until: events.filter(({ metadata }) => metadata.at <= moment.at), time: moment.at };
  const next = events.find(({ revision }) => revision > moment.revision);
  const time = next === undefined ? now : toTimestamp(Date.parse(next.metadata.at) - 1);
  return { until: events.filter(({ revision }) => revision <= moment.revision), time };
}

/** Rejects with NOT_FOUND where the task was not there then, or is archived now. */
export async function taskAt(
  { eventStore, clock }: { readonly eventStore: EventStore; readonly clock: Clock },
  { taskId, organizationId, moment }: PastTask,
): Promise<TaskDocument> {
  const events = await Array.fromAsync(eventStore.read(taskStream(taskId)));
  const last = events.at(-1);
  if (last === undefined || last.metadata.organizationId !== organizationId || isGone(last)) {
    throw notFound('notification');
  }
  if ('revision' in moment && moment.revision > last.revision) throw taskNotThere(moment);
  const { until, time } = eventsUntil(events, moment, toTimestamp(clock.now()));
  const before = until.reduce<TaskDocument | null>(tasksProjection.reduce, null);
  if (before === null) throw taskNotThere(moment);
  const run = await lastUntil(eventStore, runStream(taskId), time, 'run.recorded');
  const slot = await lastUntil(eventStore, scheduleStream(taskId), time, null);
  const found = [run, slot].filter((recorded) => recorded !== null);
  return found.reduce<TaskDocument | null>(tasksProjection.reduce, before) ?? before;
}
