/** The recorded runs of a task, read by time: their stream may hold years of them. */
import { runStream, type RunEvent } from '#contracts/run';
import { decodeEvent } from '#eventing/codec';
import type { EventStore, RecordedEvent } from '#event-store/event-store';

export type RecordedRun = Extract<RunEvent, { readonly type: 'run.recorded' }>['data'];

type Reading = Pick<EventStore, 'read' | 'readLast'>;

export async function eventAt(
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
  revision: number,
): Promise<RecordedEvent | null> {
  for await (const recorded of eventStore.read(stream, revision)) return recorded;
  return null;
}

/** The first revision whose event was recorded at this time or later, by halving; behind the last one where there is none. */
export async function revisionAt(eventStore: Reading, stream: string, atMs: number): Promise<number> {
  let low = 0;
  let high = ((await eventStore.readLast(stream))?.revision ?? -1) + 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const recorded = await eventAt(eventStore, stream, middle);
    if (recorded !== null && Date.parse(recorded.metadata.at) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function recordedRunOf(recorded: RecordedEvent): RecordedRun | null {
  const event = decodeEvent<RunEvent>(recorded);
  return event.type === 'run.recorded' ? event.data : null;
}

/** The last run of the stream that stands before this revision; null: none. */
export async function runBefore(
  eventStore: Pick<EventStore, 'read'>,
  taskId: string,
  revision: number,
): Promise<RecordedRun | null> {
  for (let before = revision - 1; before >= 0; before -= 1) {
    const recorded = await eventAt(eventStore, runStream(taskId), before);
    const run = recorded === null ? null : recordedRunOf(recorded);
    if (run !== null) return run;
  }
  return null;
}
