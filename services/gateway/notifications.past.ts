/** Tasks as they were, asked of the tasks service, and the way back to such a state. */
import { Inject, Injectable } from '@nestjs/common';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { declarationOf } from '#channels/declarations';
import type { StoredAction } from '#contracts/action';
import { requests } from '#contracts/catalogue';
import { toStoredPolicy } from '#contracts/policy';
import { toStoredSchedule } from '#contracts/schedule';
import { membersOf } from '#contracts/common';
import { taskDocument, taskSpec, type TaskDocument } from '#contracts/task';
import type { TaskMoment } from '#contracts/task-history';
import { refuse } from '#http/validation';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { VAULT, type Vault } from '#vault/vault';
import { checkSettings } from './check-settings.js';
import { DependencyTurns } from './dependency-turns.js';
import { toJsonObject, without } from './json-casts.js';
import { knownContact } from './known-contact.js';
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

/**
 * The action with the secrets that receivers check messages by as they are now: the old ones would not be taken any more, or would
 * be again though they were replaced.
 */
function withSecretsOf(action: StoredAction, present: readonly StoredAction[]): StoredAction {
  const now = present.find(
    ({ id, type, contact }) => id === action.id && type === action.type && contact === undefined,
  );
  if (now === undefined || action.contact !== undefined) return action;
  const names = declarationOf(action.type).generated.flatMap(({ name, previous }) =>
    previous === undefined ? [name] : [name, previous.name, previous.until],
  );
  const kept = Object.entries(now.config).filter(([name]) => names.includes(name));
  return { ...action, config: { ...without(action.config, ...names), ...Object.fromEntries(kept) } };
}

@Injectable()
export class PastTasks {
  readonly #readStore: ReadStore;
  readonly #bus: Bus;
  readonly #vault: Vault;
  readonly #saver: TaskSaver;
  readonly #dependencies: DependencyTurns;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(BUS) bus: Bus,
    @Inject(VAULT) vault: Vault,
    @Inject(TaskSaver) saver: TaskSaver,
    @Inject(DependencyTurns) dependencies: DependencyTurns,
  ) {
    this.#readStore = readStore;
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
    const { status } = past;
    const stored = {
      ...past.spec,
      actions: past.spec.actions.map((action) => withSecretsOf(action, task.spec.actions)),
    };
    const opened = await openSettings(this.#vault, { id: taskId, spec: stored });
    for (const [index, { contact }] of stored.actions.entries()) {
      if (contact !== undefined) await knownContact(this.#readStore, task.organizationId, contact, ['actions', index]);
    }
    const actions = stored.actions.map((action) =>
      action.contact === undefined
        ? { ...action, config: opened.configs.get(action.id) }
        : without(action, 'type', 'config'),
    );
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
