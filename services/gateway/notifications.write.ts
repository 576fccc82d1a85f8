/** Writes that are computed from a task as it is: they meet other writers by doing so again. */
import type { TaskDocument } from '#contracts/task';
import { AppError } from '#runtime/errors';
import type { TaskSaver } from './save-task.js';

/** Writers without If-Match who met another writer try again on what is there then. */
const writeAttempts = 8;

/** `wanted`: the revision of If-Match; null where any will do. `write` is given the revision that it has to meet. */
export async function writeCurrent<Written>(
  saver: Pick<TaskSaver, 'seenBeyond'>,
  find: () => Promise<TaskDocument>,
  wanted: number | null,
  write: (task: TaskDocument, revision: number) => Promise<Written>,
): Promise<Written> {
  for (let attempt = 1; ; attempt += 1) {
    const task = await find();
    try {
      return await write(task, wanted ?? task.revision);
    } catch (error) {
      const stale = error instanceof AppError && error.reason === 'stale_revision';
      if (!stale || wanted !== null || attempt >= writeAttempts) throw error;
      await saver.seenBeyond(task.id, task.revision);
    }
  }
}
