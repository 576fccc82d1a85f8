/** Takes on what is open at a task: for the API and for the page that a link in a message leads to. */
import { Inject, Injectable } from '@nestjs/common';
import type { RequestContext } from '#bus/bus';
import { tasksView, type Acknowledged, type TaskDocument } from '#contracts/task';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { TaskSaver } from './save-task.js';

@Injectable()
export class Acknowledger {
  readonly #readStore: ReadStore;
  readonly #saver: TaskSaver;

  constructor(@Inject(READ_STORE) readStore: ReadStore, @Inject(TaskSaver) saver: TaskSaver) {
    this.#readStore = readStore;
    this.#saver = saver;
  }

  /** All that is open. Throws `nothing_open` where nothing is. */
  async acknowledge(
    task: TaskDocument,
    taken: Pick<Acknowledged, 'until' | 'note'>,
    context: RequestContext,
  ): Promise<TaskDocument> {
    const { openEpisodes = [] } = task;
    if (openEpisodes.length === 0) {
      throw new AppError('NOT_FOUND', 'nothing_open', 'Nothing is open here: it is neither true nor in error.');
    }
    await this.#saver.send({ type: 'acknowledgeTask', taskId: task.id, episodes: openEpisodes, ...taken }, context);
    return (await this.#readStore.get(tasksView, task.id)) ?? task;
  }
}
