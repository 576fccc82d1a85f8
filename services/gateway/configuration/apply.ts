/** Carries out a plan: everything has been checked before the first write, and what a crash left undone the same file does. */
import { Inject, Injectable } from '@nestjs/common';
import type { RequestContext } from '#bus/bus';
import { tasksView, type TaskDocument } from '#contracts/task';
import { READ_STORE, type PageQuery, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { VAULT, type Vault } from '#vault/vault';
import { TaskSaver } from '../save-task.js';
import type { Configuration } from './configuration.js';
import { parentsFirst } from './dependency-graph.js';
import { planConfiguration, type PlannedTask, type Planning } from './plan.js';

const pageSize = 500;
/** Of a task that others write meanwhile. */
const attempts = 8;

export interface ApplyOptions {
  readonly dryRun: boolean;
  readonly archiveMissing: boolean;
}

export interface AppliedPlan {
  readonly create: readonly object[];
  readonly update: readonly object[];
  readonly unchanged: readonly object[];
  readonly archive: readonly object[];
}

/** All tasks of the organisation, oldest first. */
export async function* allTasks(readStore: ReadStore, organizationId: string): AsyncGenerator<TaskDocument> {
  let query: PageQuery = {
    where: [{ field: 'organizationId', equals: organizationId }],
    sort: [{ field: 'createdAt', descending: false }],
    limit: pageSize,
    offset: 0,
    count: false,
  };
  for (;;) {
    const { documents } = await readStore.page(tasksView, query);
    yield* documents;
    const last = documents.at(-1);
    if (last === undefined || documents.length < pageSize) return;
    query = { ...query, behind: { values: [last.createdAt], id: last.id } };
  }
}

@Injectable()
export class ConfigurationApplier {
  readonly #planning: Planning;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(TaskSaver) saver: TaskSaver,
    @Inject(VAULT) vault: Vault,
  ) {
    this.#planning = { readStore, saver, vault };
  }

  /** Rejects with the first fault of the file; nothing is written then. */
  async apply(file: Configuration, options: ApplyOptions, context: RequestContext): Promise<AppliedPlan> {
    const planned = await planConfiguration(this.#planning, file, context);
    const missing = options.archiveMissing ? await this.#missing(planned, context) : [];
    const created = planned.filter(({ document }) => document === null);
    const updated = planned.filter(({ document, changes }) => document !== null && changes.length > 0);
    if (!options.dryRun) {
      for (const one of parentsFirst(created)) await this.#write(one, context);
      for (const one of updated) await this.#update(one, file, context);
      for (const { id } of missing) await this.#archive(id, context);
    }
    const shown = ({ externalKey, taskId }: PlannedTask): object => ({ externalKey, id: taskId });
    return {
      create: created.map(shown),
      update: updated.map((one) => ({ ...shown(one), changes: one.changes })),
      unchanged: planned.filter(({ document, changes }) => document !== null && changes.length === 0).map(shown),
      archive: missing.map(({ id, externalKey }) => ({ externalKey: externalKey ?? id, id })),
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

  /** Somebody else may have changed the task since it was looked at: then it is planned anew, the file stays the same. */
  async #update(one: PlannedTask, file: Configuration, context: RequestContext): Promise<void> {
    let planned: PlannedTask | undefined = one;
    for (let attempt = 1; planned !== undefined; attempt += 1) {
      try {
        await this.#write(planned, context);
        return;
      } catch (error) {
        const isStale = error instanceof AppError && error.reason === 'stale_revision';
        if (!isStale || attempt >= attempts || planned.document === null) throw error;
        await this.#planning.saver.seenBeyond(planned.taskId, planned.document.revision);
        const again = await planConfiguration(this.#planning, file, context);
        planned = again.find(({ taskId, document }) => taskId === one.taskId && document !== null);
      }
    }
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
