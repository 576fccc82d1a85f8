/** The events of one day of a task's streams, in the order in which they were recorded. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayOf } from '#contracts/retention';
import type { RecordedEvent, StoredStreams } from '#event-store/event-store';

/** Everything else has a turn after so many. */
const eventsATurn = 50;

export interface DaySource {
  readonly stream: string;
  /** The first revision that was not folded yet. */
  readonly from: number;
}

interface OpenSource {
  readonly events: AsyncIterator<RecordedEvent>;
  /** Of that day or an earlier one; null: there are no more. */
  next: RecordedEvent | null;
  upTo: number;
  /** The first event behind the day. */
  behind: RecordedEvent | null;
}

/** Where a stream's day ended. */
export interface DayEnd {
  /** The first revision that is of a later day. */
  readonly upTo: number;
  readonly behind: RecordedEvent | null;
}

async function step(source: OpenSource, day: string): Promise<void> {
  const read = await source.events.next();
  const event = read.done === true ? null : read.value;
  const isOfDay = event !== null && dayOf(event.metadata.at) <= day;
  source.next = isOfDay ? event : null;
  if (isOfDay) source.upTo = event.revision + 1;
  else source.behind = event;
}

/**
 * Hands over each event up to the end of the day, those of a clock that was set back among them, and says where each stream's
 * day ended, in the order of the sources.
 */
export async function eachOfDay(
  stored: Pick<StoredStreams, 'read'>,
  sources: readonly DaySource[],
  day: string,
  handle: (event: RecordedEvent) => Promise<void>,
): Promise<readonly DayEnd[]> {
  const opened = sources.map(({ stream, from }): OpenSource => {
    const events = stored.read(stream, from)[Symbol.asyncIterator]();
    return { events, next: null, upTo: from, behind: null };
  });
  try {
    for (const source of opened) await step(source, day);
    for (let count = 1; ; count += 1) {
      let first: OpenSource | null = null;
      for (const source of opened) {
        if (source.next !== null && source.next.position < (first?.next?.position ?? Infinity)) first = source;
      }
      if (first?.next === undefined || first.next === null) break;
      await handle(first.next);
      await step(first, day);
      if (count % eventsATurn === 0) await nextTurn();
    }
    return opened.map(({ upTo, behind }) => ({ upTo, behind }));
  } finally {
    for (const { events } of opened) await events.return?.();
  }
}
