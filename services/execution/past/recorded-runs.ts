/** The recorded runs of a task among the other events of their stream. */
import { runStream, type RunEvent } from '#contracts/run';
import { decodeEvent } from '#eventing/codec';
import { lastBefore } from '#eventing/events-by-time';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import type { RecordedRun } from '../execution-view.js';

export type { RecordedRun };

export function recordedRunOf(recorded: RecordedEvent): RecordedRun | null {
  const event = decodeEvent<RunEvent>(recorded);
  return event.type === 'run.recorded' ? event.data : null;
}

/** The last run that stands before this revision of the stream, and its own revision; null: none. */
export async function runBefore(
  eventStore: Pick<EventStore, 'read'>,
  taskId: string,
  revision: number,
): Promise<{ readonly run: RecordedRun; readonly revision: number } | null> {
  const found = await lastBefore(eventStore, runStream(taskId), revision, ({ type }) => type === 'run.recorded');
  const run = found === null ? null : recordedRunOf(found);
  return found === null || run === null ? null : { run, revision: found.revision };
}
