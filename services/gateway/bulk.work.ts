/** Does the same to many tasks, each by its own command. */
import { Inject, Injectable } from '@nestjs/common';
import type { RequestContext } from '#bus/bus';
import { createSemaphore } from '#concurrency/semaphore';
import { tasksView } from '#contracts/task';
import { toAppError } from '#http/failures';
import type { IdempotentAttempt } from '#http/route';
import { refuse } from '#http/validation';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { notFound, unreachable } from '#runtime/errors';
import { isId } from '#runtime/ids';
import { LOGGER, type Logger } from '#runtime/logger';
import type { BulkBody } from './bulk.routes.js';
import { TaskRunner } from './execute-task.js';
import { findTask } from './find-owned.js';
import { everyDocument } from './paging.js';
import { TaskSaver } from './save-task.js';
import { tasksWhere, type TaskFilters } from './task-list.js';

/** More than a request can wait for. */
const mostMatching = 5_000;
/** Of one request: others write meanwhile. */
const commandsAtOnce = 16;

export interface BulkRequest {
  readonly body: Pick<BulkBody, 'do' | 'tags'>;
  readonly context: RequestContext;
  readonly attempt: IdempotentAttempt | null;
  readonly signal: AbortSignal;
}

export interface BulkResult {
  readonly done: readonly string[];
  readonly failed: readonly { readonly id: string; readonly reason: string; readonly message: string }[];
}

@Injectable()
export class BulkWork {
  readonly #readStore: ReadStore;
  readonly #saver: TaskSaver;
  readonly #runner: TaskRunner;
  readonly #logger: Logger;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(TaskSaver) saver: TaskSaver,
    @Inject(TaskRunner) runner: TaskRunner,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#readStore = readStore;
    this.#saver = saver;
    this.#runner = runner;
    this.#logger = logger;
  }

  /** Ids of the tasks that match, oldest first. Throws where they are too many for one request. */
  async matching(organizationId: string, filters: TaskFilters): Promise<readonly string[]> {
    const ids: string[] = [];
    for await (const { id } of everyDocument(
      this.#readStore,
      tasksView,
      'createdAt',
      tasksWhere(organizationId, filters),
    )) {
      ids.push(id);
      if (ids.length > mostMatching) {
        throw refuse(['filter'], 'too_many', `matches more than ${mostMatching} tasks: narrow it`);
      }
    }
    return ids;
  }

  /** In the order of the ids. Never rejects: what fails is told with its task. */
  async run(ids: readonly string[], request: BulkRequest): Promise<BulkResult> {
    const semaphore = createSemaphore(commandsAtOnce);
    const results = await Promise.all(
      ids.map((id) =>
        semaphore.run(async () => {
          try {
            await this.#one(id, request);
            return null;
          } catch (thrown) {
            const { code, reason, message } = toAppError(thrown);
            if (code === 'SERVER_ERROR')
              this.#logger.warn({ taskId: id, reason, error: String(thrown) }, 'bulk step failed');
            return { id, reason, message };
          }
        }),
      ),
    );
    return {
      done: ids.filter((_, index) => results[index] === null),
      failed: results.filter((result) => result !== null),
    };
  }

  async #one(taskId: string, { body, context, attempt, signal }: BulkRequest): Promise<void> {
    if (!isId(taskId, 'ntf')) throw notFound('notification');
    const { tags = [] } = body;
    switch (body.do) {
      case 'pause':
        return this.#send({ type: 'pauseTask', taskId }, context);
      case 'resume':
        return this.#send({ type: 'resumeTask', taskId }, context);
      case 'archive':
        return this.#send({ type: 'archiveTask', taskId, expectedRevision: null }, context);
      case 'restore':
        await this.#saver.restore(taskId, context);
        return undefined;
      case 'tag':
        return this.#send({ type: 'tagTask', taskId, tags }, context);
      case 'untag':
        return this.#send({ type: 'untagTask', taskId, tags }, context);
      case 'execute': {
        const task = await findTask(this.#readStore, context.organizationId, taskId);
        await this.#runner.run({ task, force: false, dryRun: false, waitSeconds: 0, context, attempt, signal });
        return undefined;
      }
      default:
        return unreachable(body.do);
    }
  }

  async #send(...[command, context]: Parameters<TaskSaver['send']>): Promise<void> {
    await this.#saver.send(command, context);
  }
}
