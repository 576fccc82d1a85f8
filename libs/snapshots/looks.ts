/** When a store looks for what a task has too many of: to look at each save would cost more than what it finds. */
import type { Retention } from './snapshots.js';

/** Of so many tasks it is known how often they were saved since; beyond, a look more is made. */
const countedTasks = 10_000;

/**
 * For one process: true at its first save of a task, since another one may have kept more, and then once in so many that at
 * most a tenth more stays than may be kept.
 */
export function createLooks({ keepCount }: Retention): (taskId: string) => boolean {
  const between = Math.floor(keepCount / 10);
  const savedSince = new Map<string, number>();
  return (taskId) => {
    const saved = savedSince.get(taskId) ?? between;
    if (savedSince.size >= countedTasks) savedSince.clear();
    savedSince.set(taskId, saved < between ? saved + 1 : 0);
    return saved >= between;
  };
}
