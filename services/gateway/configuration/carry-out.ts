/** Writes what a journal says, also what was written in part before: each step may be repeated. */
import { Inject, Injectable } from '@nestjs/common';
import type { RequestContext } from '#bus/bus';
import type { TaskDocument } from '#contracts/task';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError, unreachable } from '#runtime/errors';
import { LOGGER, type Logger } from '#runtime/logger';
import { VAULT, type Vault } from '#vault/vault';
import { Activities } from '../activities.js';
import { ContactSaver } from '../contacts.saver.js';
import { findTask } from '../find-owned.js';
import { writeCurrent } from '../notifications.write.js';
import { TaskSaver } from '../save-task.js';
import { ApplyJournals, type Journal, type Step, type TaskStep } from './journal.js';
import { replan, type PlannedTask, type Planning } from './plan.js';

export function taskStep({ index, externalKey, taskId, entry, prepared, input, document }: PlannedTask): TaskStep {
  const { spec } = prepared;
  const revision = document?.revision ?? null;
  return { kind: 'task', index, externalKey, taskId, entry, spec, status: input.status, revision };
}

@Injectable()
export class JournalWork {
  readonly planning: Planning;
  readonly #journals: ApplyJournals;
  readonly #activities: Activities;
  readonly #logger: Logger;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(TaskSaver) saver: TaskSaver,
    @Inject(VAULT) vault: Vault,
    @Inject(ContactSaver) contacts: ContactSaver,
    @Inject(ApplyJournals) journals: ApplyJournals,
    @Inject(Activities) activities: Activities,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.planning = { readStore, saver, vault, contacts };
    this.#journals = journals;
    this.#activities = activities;
    this.#logger = logger;
  }

  /**
   * Asked in turn. Resolves once nothing is left of the journal, with the first refusal: by somebody who changed the same task
   * or contact meanwhile. Rejects where a part cannot answer now; the rest is for the process that finds the journal then.
   */
  async finish(journal: Journal, signal?: AbortSignal): Promise<AppError | null> {
    let refusal: AppError | null = null;
    if (journal.isDecided) {
      const { organizationId, actor, requestId } = journal;
      const context = { organizationId, actor, requestId };
      for await (const one of this.#journals.steps(journal)) {
        signal?.throwIfAborted();
        try {
          await this.#write(one, context);
        } catch (error) {
          if (!(error instanceof AppError) || error.code === 'SERVER_ERROR') throw error;
          refusal ??= error;
          const { reason } = error;
          this.#logger.warn({ organizationId, requestId, reason }, 'a part of a configuration file was refused');
        }
      }
      const applied = { resource: organizationId, ...journal.counts };
      await this.#activities.record({ type: 'activity.applied', data: applied }, context);
    }
    await this.#journals.end(journal);
    return refusal;
  }

  async #write(one: Step, context: RequestContext): Promise<void> {
    const { contacts } = this.planning;
    switch (one.kind) {
      case 'contact': {
        const { organizationId } = context;
        const known = await contacts.get(organizationId, one.contact.name);
        const prepared = await contacts.prepare(one.contact, known, organizationId);
        if (prepared.changes.length > 0) await contacts.write(prepared, context);
        return undefined;
      }
      case 'task':
        return one.revision === null ? this.#create(one, context) : this.#update(one, context);
      case 'archive':
        return this.#archive(one.taskId, context);
      default:
        return unreachable(one);
    }
  }

  async #create({ taskId, spec, status }: TaskStep, context: RequestContext): Promise<void> {
    await this.planning.saver.send({ type: 'createTask', taskId, spec, status }, context);
  }

  /** Somebody else may have changed the task since it was looked at, or the step was written before: then it is planned anew. */
  async #update(first: TaskStep, context: RequestContext): Promise<void> {
    const { readStore, saver } = this.planning;
    let current = first;
    const find = (): Promise<TaskDocument> => findTask(readStore, context.organizationId, first.taskId);
    await writeCurrent(saver, find, null, async (document) => {
      if (document.revision !== current.revision) {
        current = taskStep(await replan(this.planning, first, document));
      }
      const { taskId, spec, status } = current;
      await saver.send({ type: 'replaceTask', taskId, spec, status, expectedRevision: document.revision }, context);
    });
  }

  async #archive(id: string, context: RequestContext): Promise<void> {
    try {
      await this.planning.saver.archive(id, null, context);
    } catch (error) {
      // It is archived already.
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
    }
  }
}
