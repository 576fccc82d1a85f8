/** Carries out a plan: everything has been checked before the first write, and what a crash left undone the same file does. */
import { Inject, Injectable } from '@nestjs/common';
import type { RequestContext } from '#bus/bus';
import { tasksView, type TaskDocument } from '#contracts/task';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { VAULT, type Vault } from '#vault/vault';
import { ContactSaver, type PreparedContact } from '../contacts.saver.js';
import { DependencyTurns } from '../dependency-turns.js';
import { findTask } from '../find-owned.js';
import { writeCurrent } from '../notifications.write.js';
import { everyDocument } from '../paging.js';
import { TaskSaver } from '../save-task.js';
import { warningsOf, type TaskWarning } from '../task-warnings.js';
import type { Configuration } from './configuration.js';
import { parentsFirst } from './parents-first.js';
import { planConfiguration, replan, type PlannedTask, type Planning } from './plan.js';

export interface ApplyOptions {
  readonly dryRun: boolean;
  readonly archiveMissing: boolean;
}

export interface AppliedPlan {
  readonly create: readonly object[];
  readonly update: readonly object[];
  readonly unchanged: readonly object[];
  readonly archive: readonly object[];
  /** Absent: the file names none. */
  readonly contacts?: Readonly<Record<'create' | 'update' | 'unchanged', readonly object[]>>;
}

const isChanged = ({ changes }: PreparedContact): boolean => changes.length > 0;

function shownContacts(contacts: readonly PreparedContact[]): NonNullable<AppliedPlan['contacts']> {
  const named = ({ contact: { name } }: PreparedContact): { readonly name: string } => ({ name });
  const known = contacts.filter((one) => one.known !== null);
  return {
    create: contacts.filter((one) => one.known === null).map(named),
    update: known.filter(isChanged).map((one) => ({ ...named(one), changes: one.changes })),
    unchanged: known.filter((one) => !isChanged(one)).map(named),
  };
}

/** All tasks of the organisation, oldest first. */
export function allTasks(readStore: ReadStore, organizationId: string): AsyncGenerator<TaskDocument> {
  return everyDocument(readStore, tasksView, 'createdAt', [{ field: 'organizationId', equals: organizationId }]);
}

/** What the task that is written leaves silent, as the answer to a write of one task says it. */
function warned({ prepared }: PlannedTask): { readonly warnings?: readonly TaskWarning[] } {
  const warnings = warningsOf(prepared.spec);
  return warnings.length === 0 ? {} : { warnings };
}

@Injectable()
export class ConfigurationApplier {
  readonly #planning: Planning;
  readonly #turns: DependencyTurns;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(TaskSaver) saver: TaskSaver,
    @Inject(VAULT) vault: Vault,
    @Inject(DependencyTurns) turns: DependencyTurns,
    @Inject(ContactSaver) contacts: ContactSaver,
  ) {
    this.#turns = turns;
    this.#planning = { readStore, saver, vault, contacts };
  }

  /** Rejects with the first fault of the file; nothing is written then. */
  async apply(file: Configuration, options: ApplyOptions, context: RequestContext): Promise<AppliedPlan> {
    const hasDependencies = file.notifications.some(({ policy }) => policy.dependsOn.length > 0);
    if (options.dryRun || !hasDependencies) return this.#apply(file, options, context);
    return this.#turns.run(context.organizationId, () => this.#apply(file, options, context));
  }

  async #apply(file: Configuration, options: ApplyOptions, context: RequestContext): Promise<AppliedPlan> {
    const { contacts, tasks: planned } = await planConfiguration(this.#planning, file, context);
    const missing = options.archiveMissing ? await this.#missing(planned, context) : [];
    const created = planned.filter(({ document }) => document === null);
    const updated = planned.filter(({ document, changes }) => document !== null && changes.length > 0);
    if (!options.dryRun) {
      for (const one of contacts.filter(isChanged)) await this.#planning.contacts.write(one, context);
      for (const one of parentsFirst(created)) await this.#write(one, context);
      for (const one of updated) await this.#update(one, context);
      for (const { id } of missing) await this.#archive(id, context);
    }
    const shown = ({ externalKey, taskId }: PlannedTask): object => ({ externalKey, id: taskId });
    return {
      create: created.map((one) => ({ ...shown(one), ...warned(one) })),
      update: updated.map((one) => ({ ...shown(one), changes: one.changes, ...warned(one) })),
      unchanged: planned.filter(({ document, changes }) => document !== null && changes.length === 0).map(shown),
      archive: missing.map(({ id, externalKey }) => ({ externalKey: externalKey ?? id, id })),
      ...(contacts.length === 0 ? {} : { contacts: shownContacts(contacts) }),
    };
  }

  async #missing(planned: readonly PlannedTask[], context: RequestContext): Promise<readonly TaskDocument[]> {
    const kept = new Set(planned.map(({ taskId }) => taskId));
    const missing: TaskDocument[] = [];
    for await (const task of allTasks(this.#planning.readStore, context.organizationId)) {
      if (!kept.has(task.id)) missing.push(task);
    }
    return missing;
  }

  async #write({ taskId, document, input, prepared }: PlannedTask, context: RequestContext): Promise<void> {
    const { spec } = prepared;
    const { status } = input;
    await this.#planning.saver.send(
      document === null
        ? { type: 'createTask', taskId, spec, status }
        : { type: 'replaceTask', taskId, spec, status, expectedRevision: document.revision },
      context,
    );
  }

  /** Somebody else may have changed the task since it was looked at: then its entry is planned anew. */
  async #update(first: PlannedTask, context: RequestContext): Promise<void> {
    let planned = first;
    const find = (): Promise<TaskDocument> => findTask(this.#planning.readStore, context.organizationId, first.taskId);
    await writeCurrent(this.#planning.saver, find, null, async (document) => {
      if (document.revision !== planned.document?.revision) planned = await replan(this.#planning, first, document);
      await this.#write(planned, context);
    });
  }

  async #archive(id: string, context: RequestContext): Promise<void> {
    try {
      await this.#planning.saver.archive(id, null, context);
    } catch (error) {
      // Somebody else has archived it.
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
    }
  }
}
