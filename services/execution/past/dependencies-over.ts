/** Whether tasks that another one depends on kept it silent, asked for times that only grow: their streams are read along. */
import { runStream } from '#contracts/run';
import { revisionAt } from '#eventing/events-by-time';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { keepsSilent } from '../dependencies.js';
import { recordedRunOf } from './recorded-runs.js';

export interface DependenciesOver {
  isDownAt(time: string): Promise<boolean>;
  /** To be called once it is not asked any more: the streams are open until then. */
  close(): Promise<void>;
}

interface Parent {
  readonly events: AsyncIterator<RecordedEvent>;
  /** Read, and later than what was asked for so far. */
  next: RecordedEvent | null;
  isDown: boolean;
}

/** `fromMs`: before the first time that is asked for. Runs of another organisation count for nothing. */
export async function dependenciesOver(
  eventStore: Pick<EventStore, 'read' | 'readLast'>,
  taskIds: readonly string[],
  { organizationId, fromMs }: { readonly organizationId: string; readonly fromMs: number },
): Promise<DependenciesOver> {
  const open = async (taskId: string): Promise<Parent> => {
    const stream = runStream(taskId);
    // The run before says how it stood then.
    const first = Math.max(0, (await revisionAt(eventStore, stream, fromMs)) - 1);
    return { events: eventStore.read(stream, first)[Symbol.asyncIterator](), next: null, isDown: false };
  };
  const isDownAt = async (parent: Parent, time: string): Promise<boolean> => {
    for (;;) {
      if (parent.next === null) {
        const step = await parent.events.next();
        if (step.done === true) return parent.isDown;
        parent.next = step.value;
      }
      const { metadata } = parent.next;
      if (metadata.at > time) return parent.isDown;
      const run = metadata.organizationId === organizationId ? recordedRunOf(parent.next) : null;
      if (run !== null) parent.isDown = keepsSilent(run.alert, true);
      parent.next = null;
    }
  };
  const parents = await Promise.all(taskIds.map(open));
  return {
    async isDownAt(time) {
      const found = await Promise.all(parents.map((parent) => isDownAt(parent, time)));
      return found.includes(true);
    },
    async close() {
      await Promise.all(parents.map(async ({ events }) => events.return?.()));
    },
  };
}
