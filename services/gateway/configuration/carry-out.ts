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
import { ApplyJournals, type Journal, type Step, type TaskStep, type UnreadableStep } from './journal.js';
import { replan, type PlannedTask, type Planning } from './plan.js';

export function taskStep({ index, externalKey, taskId, entry, prepared, input, document }: PlannedTask): TaskStep {
  const { spec } = prepared;
  const revision = document?.revision ?? null;
  return { kind: 'task', index, externalKey, taskId, entry, spec, status: input.status, revision };
}

/** Of one file: others write meanwhile. */
const writesAtOnce = 16;

/** By then an error that nobody expects has come so often that it will come again: what ends in it is left out. */
const mostFailures = 10;

/** A part does not answer now, and will: however long that takes, the rest waits for it. */
const isOutage = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'SERVER_ERROR' && error.retryAfterSeconds !== undefined;

const isRefusal = (error: unknown): error is AppError => error instanceof AppError && error.code !== 'SERVER_ERROR';

const leftOut = (cause: unknown): AppError =>
  new AppError('SERVER_ERROR', 'apply_incomplete', 'Not all of the file could be written; what is not is in no list.', {
    cause,
  });

/** What the task waits for. Empty for all else. */
function parentsOf(one: Step | UnreadableStep): readonly string[] {
  return one.kind === 'task' ? (one.spec.policy.dependsOn ?? []) : [];
}

interface Written {
  /** Why, in the order of the file. */
  readonly leftOut: readonly AppError[];
  /** Of the last event of a task; null: there is none. */
  readonly position: number | null;
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
   * or contact meanwhile. Rejects where a part cannot answer now; the rest is for the process that finds the journal then. An
   * error that nobody expects rejects as well, until it has come too often: then what ends in it is left out, on record.
   */
  async finish(journal: Journal, signal?: AbortSignal): Promise<AppError | null> {
    let refusal: AppError | null = null;
    if (journal.isDecided) {
      const { organizationId, actor, requestId } = journal;
      const context = { organizationId, actor, requestId };
      const { leftOut: unwritten, position } = await this.#writeAll(journal, context, signal);
      refusal = unwritten[0] ?? null;
      const data = { resource: organizationId, ...journal.counts, unwritten: unwritten.length };
      await this.#activities.record({ type: 'activity.applied', data }, context);
      // Once for all of them: hundreds of tasks would each wait for the view.
      await this.planning.saver.seen(position);
    }
    await this.#journals.end(journal);
    return refusal;
  }

  /**
   * Several at a time: on servers each is a way there and back. What a task depends on is written before it, contacts before
   * tasks, and nothing is archived before the rest is there. Rejects with the first error that is no refusal, once nothing
   * is on its way any more.
   */
  async #writeAll(journal: Journal, context: RequestContext, signal?: AbortSignal): Promise<Written> {
    const outcomes: (number | AppError | null)[] = [];
    const underWay = new Set<Promise<void>>();
    const ofTasks = new Map<string, Promise<void>>();
    let failure: { readonly error: unknown } | null = null;
    const untilAtMost = async (count: number): Promise<void> => {
      while (underWay.size > count) await Promise.race(underWay);
    };
    const write = async (one: Step | UnreadableStep, index: number): Promise<void> => {
      try {
        await Promise.all(parentsOf(one).flatMap((id) => ofTasks.get(id) ?? []));
        if (failure === null) outcomes[index] = await this.#tryToWrite(one, journal, context);
      } catch (error) {
        failure ??= { error };
      }
    };
    let count = 0;
    let kind: Step['kind'] | null = null;
    try {
      for await (const one of this.#journals.steps(journal)) {
        const isNext = one.kind !== 'unreadable' && one.kind !== kind;
        await untilAtMost(isNext ? 0 : writesAtOnce - 1);
        if (failure !== null || signal?.aborted === true) break;
        if (one.kind !== 'unreadable') ({ kind } = one);
        const writing: Promise<void> = write(one, count).finally(() => underWay.delete(writing));
        underWay.add(writing);
        if (one.kind === 'task') ofTasks.set(one.taskId, writing);
        count += 1;
      }
    } finally {
      await untilAtMost(0);
    }
    signal?.throwIfAborted();
    await this.#throwIfFailed(failure, journal);
    const positions = outcomes.filter((outcome) => typeof outcome === 'number');
    return {
      leftOut: outcomes.filter((outcome) => outcome instanceof AppError),
      position: positions.length === 0 ? null : Math.max(...positions),
    };
  }

  async #throwIfFailed(failure: { readonly error: unknown } | null, journal: Journal): Promise<void> {
    if (failure === null) return;
    if (!isOutage(failure.error)) await this.#journals.noteFailure(journal);
    throw failure.error;
  }

  /** The position of what was written to a task, null where nothing was to be written, or why it is left out. */
  async #tryToWrite(
    one: Step | UnreadableStep,
    journal: Journal,
    context: RequestContext,
  ): Promise<number | AppError | null> {
    const { organizationId, requestId } = context;
    try {
      if (one.kind === 'unreadable') return leftOut(null);
      return await this.#write(one, context);
    } catch (error) {
      if (isRefusal(error)) {
        const { reason } = error;
        this.#logger.warn({ organizationId, requestId, reason }, 'a part of a configuration file was refused');
        return error;
      }
      if (isOutage(error) || (journal.failures ?? 0) + 1 < mostFailures) throw error;
      const failed = { organizationId, requestId, error: String(error) };
      this.#logger.error(failed, 'a part of a configuration file cannot be written and is left out');
      return leftOut(error);
    }
  }

  /** The position of what was written to a task; null: nothing was. */
  async #write(one: Step, context: RequestContext): Promise<number | null> {
    const { contacts } = this.planning;
    switch (one.kind) {
      case 'contact': {
        const { organizationId } = context;
        const known = await contacts.get(organizationId, one.contact.name);
        const prepared = await contacts.prepare(one.contact, known, organizationId);
        if (prepared.changes.length > 0) await contacts.write(prepared, context);
        return null;
      }
      case 'task':
        return one.revision === null ? this.#create(one, context) : this.#update(one, context);
      case 'archive':
        return this.#archive(one.taskId, context);
      default:
        return unreachable(one);
    }
  }

  async #create({ taskId, spec, status }: TaskStep, context: RequestContext): Promise<number | null> {
    return (await this.planning.saver.write({ type: 'createTask', taskId, spec, status }, context)).position;
  }

  /** Somebody else may have changed the task since it was looked at, or the step was written before: then it is planned anew. */
  async #update(first: TaskStep, context: RequestContext): Promise<number | null> {
    const { readStore, saver } = this.planning;
    let current = first;
    const find = (): Promise<TaskDocument> => findTask(readStore, context.organizationId, first.taskId);
    return writeCurrent(saver, find, null, async (document) => {
      if (document.revision !== current.revision) {
        current = taskStep(await replan(this.planning, first, document));
      }
      const { taskId, spec, status } = current;
      const { revision: expectedRevision } = document;
      return (await saver.write({ type: 'replaceTask', taskId, spec, status, expectedRevision }, context)).position;
    });
  }

  async #archive(taskId: string, context: RequestContext): Promise<number | null> {
    try {
      const command = { type: 'archiveTask', taskId, expectedRevision: null } as const;
      return (await this.planning.saver.write(command, context)).position;
    } catch (error) {
      // It is archived already.
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
      return null;
    }
  }
}
