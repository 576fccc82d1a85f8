/** Tasks as they were, asked of the tasks service, and the way back to such a state. */
import { Inject, Injectable } from '@nestjs/common';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { toStoredPolicy } from '#contracts/policy';
import { toStoredSchedule } from '#contracts/schedule';
import { membersOf } from '#contracts/common';
import { taskDocument, taskSpec, type TaskDocument } from '#contracts/task';
import type { TaskMoment } from '#contracts/task-history';
import { refuse } from '#http/validation';
import { AppError } from '#runtime/errors';
import { VAULT, type Vault } from '#vault/vault';
import { checkSettings } from './check-settings.js';
import { DependencyTurns } from './dependency-turns.js';
import { toJsonObject, without } from './json-casts.js';
import { validatedOfKnown } from './settings-of-known.js';
import { TaskSaver, type SavedTask } from './save-task.js';
import { openSettings } from './task-answer.js';

interface MomentQuery {
  readonly at?: string | undefined;
  readonly revision?: number | undefined;
}

/** null: now. Throws where two moments are given. */
export function momentOf({ at, revision }: MomentQuery): TaskMoment | null {
  if (at !== undefined && revision !== undefined) {
    throw refuse(['revision'], 'invalid', 'cannot be given beside at', 'at_and_revision');
  }
  if (at !== undefined) return { at };
  return revision === undefined ? null : { revision };
}

@Injectable()
export class PastTasks {
  readonly #bus: Bus;
  readonly #vault: Vault;
  readonly #saver: TaskSaver;
  readonly #dependencies: DependencyTurns;

  constructor(
    @Inject(BUS) bus: Bus,
    @Inject(VAULT) vault: Vault,
    @Inject(TaskSaver) saver: TaskSaver,
    @Inject(DependencyTurns) dependencies: DependencyTurns,
  ) {
    this.#bus = bus;
    this.#vault = vault;
    this.#saver = saver;
    this.#dependencies = dependencies;
  }

  /** Rejects with NOT_FOUND where the task was not there then. */
  async find(taskId: string, moment: TaskMoment, context: RequestContext): Promise<TaskDocument> {
    return taskDocument.parse(await this.#bus.request(requests.taskAt, { taskId, moment }, context));
  }

  /** Rejects with `stale_revision` where the task is no longer at `expectedRevision`. */
  async rollBack(
    task: TaskDocument,
    revision: number,
    expectedRevision: number,
    context: RequestContext,
  ): Promise<SavedTask> {
    const { id: taskId } = task;
    const past = await this.find(taskId, { revision }, context).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.reason !== 'no_such_revision') throw error;
      throw refuse(['revision'], 'unknown', 'is no revision of this notification', 'no_such_revision');
    });
    const { spec: stored, status } = past;
    const opened = await openSettings(this.#vault, past);
    const actions = stored.actions.map((action) => ({ ...action, config: opened.configs.get(action.id) }));
    const settings = toJsonObject({ ...without(stored, 'codeForm'), actions, fetch: opened.fetch, status });
    // Settings that there were not then have their defaults.
    const input = validatedOfKnown(settings, past);
    const codeForm = await checkSettings(this.#saver.checks, input);
    const policy = toStoredPolicy(input.policy);
    const kept = { schedule: toStoredSchedule(input.schedule), policy };
    const spec = membersOf(taskSpec, { ...input, ...kept, codeForm, actions: stored.actions, fetch: stored.fetch });
    const { state, position } = await this.#dependencies.write(input.policy.dependsOn, task, () =>
      this.#saver.send({ type: 'replaceTask', taskId, spec, status: input.status, expectedRevision }, context),
    );
    return {
      state,
      opened: position === null ? await openSettings(this.#vault, state) : opened,
      generated: new Map(),
    };
  }
}
