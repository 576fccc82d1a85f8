/** What a projection does once the contents of a task are purged: its documents of that task go. */
import { taskStream } from '#contracts/task';
import type { RecordedEvent } from '#event-store/event-store';
import type { Projected } from './projected.js';

const tasks = taskStream('');

/** The task whose contents the event says are gone; null: it says something else. */
export function purgedTask({ type, stream }: Pick<RecordedEvent, 'type' | 'stream'>): string | null {
  return type === 'task.purged' ? stream.slice(tasks.length) : null;
}

/** `taskField`: the field that names the task in each document; null: documents have the ids of tasks. */
export function forgettingPurged<Document extends object>(
  projected: Projected<Document>,
  taskField: string | null,
): Projected<Document> {
  const { prefixes, idOf, reduce, forgets, removes } = projected;
  const readsTasks = prefixes.includes(tasks);
  return {
    ...projected,
    prefixes: readsTasks ? prefixes : [...prefixes, tasks],
    idOf(event) {
      const purged = purgedTask(event);
      if (purged !== null) return taskField === null ? purged : null;
      return !readsTasks && event.stream.startsWith(tasks) ? null : idOf(event);
    },
    ...(removes === undefined
      ? {}
      : { removes: (event: RecordedEvent) => (event.stream.startsWith(tasks) ? [] : removes(event)) }),
    reduce: (document, event) => (purgedTask(event) === null ? reduce(document, event) : null),
    ...(taskField === null
      ? {}
      : {
          forgets(event: RecordedEvent) {
            const purged = purgedTask(event);
            return purged === null ? (forgets?.(event) ?? []) : [[{ field: taskField, equals: purged }]];
          },
        }),
  };
}
