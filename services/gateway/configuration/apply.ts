/** Applies a configuration file: everything is checked and put on record before the first write, and what a crash left undone is done at the next start. */
import { Inject, Injectable } from '@nestjs/common';
import type { RequestContext } from '#bus/bus';
import { sleep } from '#concurrency/sleep';
import { tasksView, type TaskDocument } from '#contracts/task';
import type { ReadStore } from '#read-store/read-store';
import { unavailable } from '#runtime/errors';
import type { PreparedContact } from '../contacts.saver.js';
import { DependencyTurns } from '../dependency-turns.js';
import { everyDocument } from '../paging.js';
import { warningsOf, type TaskWarning } from '../task-warnings.js';
import { JournalWork, taskStep } from './carry-out.js';
import { fileKeyOf, type Configuration } from './configuration.js';
import { ApplyJournals, type Journal, type Step } from './journal.js';
import { parentsFirst } from './parents-first.js';
import { planConfiguration, type PlannedTask } from './plan.js';

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

/** Everything that the file comes to, looked at in one go. */
interface WholePlan {
  readonly answer: AppliedPlan;
  /** In the order of writing. */
  readonly steps: readonly Step[];
  readonly counts: Journal['counts'];
}

/** Longer than it takes to know that a process is dead. */
const waitAtMostMs = 10_000;
const lookMs = 50;
const comeBackSeconds = 5;

function refuseAsBusy(cause?: unknown): never {
  const message = 'Another configuration file is being applied; try again in a moment.';
  throw unavailable('apply_busy', message, comeBackSeconds, cause);
}

@Injectable()
export class ConfigurationApplier {
  readonly #work: JournalWork;
  readonly #journals: ApplyJournals;
  readonly #turns: DependencyTurns;

  constructor(
    @Inject(JournalWork) work: JournalWork,
    @Inject(ApplyJournals) journals: ApplyJournals,
    @Inject(DependencyTurns) turns: DependencyTurns,
  ) {
    this.#work = work;
    this.#journals = journals;
    this.#turns = turns;
  }

  /**
   * Rejects with the first fault of the file; nothing is written then. Rejects with `apply_under_way` where it is on record and
   * a part that is needed does not answer: it is finished by itself.
   */
  async apply(file: Configuration, options: ApplyOptions, context: RequestContext): Promise<AppliedPlan> {
    const { organizationId } = context;
    if (options.dryRun) return (await this.#plan(file, options, context)).answer;
    return this.#journals.inTurn(organizationId, async () => {
      const hasDependencies = file.notifications.some(({ policy }) => policy.dependsOn.length > 0);
      const write = (): Promise<AppliedPlan> => this.#write(file, options, context);
      return hasDependencies ? this.#turns.run(organizationId, write) : write();
    });
  }

  async #write(file: Configuration, options: ApplyOptions, context: RequestContext): Promise<AppliedPlan> {
    const begun = await this.#begin(context);
    const { answer, journal } = await this.#decided(begun, file, options, context);
    const refusal = await this.#work.finish(journal).catch((error: unknown) => {
      const message = 'The file is taken, and not all of it is written yet; that goes on by itself.';
      throw unavailable('apply_under_way', message, comeBackSeconds, error);
    });
    if (refusal !== null) throw refusal;
    return answer;
  }

  /** What another process left behind is finished first; one that is at work is waited for. */
  async #begin(context: RequestContext): Promise<Journal> {
    for (let waitedMs = 0; waitedMs < waitAtMostMs; waitedMs += lookMs) {
      const before = await this.#journals.leftBehind(context.organizationId);
      if (before !== null) await this.#work.finish(before).catch(refuseAsBusy);
      const begun = await this.#journals.begin(context);
      if (begun !== null) return begun;
      await sleep(lookMs);
    }
    return refuseAsBusy();
  }

  async #decided(begun: Journal, file: Configuration, options: ApplyOptions, context: RequestContext) {
    try {
      const { answer, steps, counts } = await this.#plan(file, options, context);
      return { answer, journal: await this.#journals.decide(begun, steps, counts) };
    } catch (error) {
      await this.#journals.end(begun);
      throw error;
    }
  }

  async #plan(file: Configuration, options: ApplyOptions, context: RequestContext): Promise<WholePlan> {
    const { contacts, tasks: planned } = await planConfiguration(this.#work.planning, file, context);
    const missing = options.archiveMissing ? await this.#missing(planned, context) : [];
    const created = planned.filter(({ document }) => document === null);
    const updated = planned.filter(({ document, changes }) => document !== null && changes.length > 0);
    const shown = ({ externalKey, taskId }: PlannedTask): object => ({ externalKey, id: taskId });
    const changedContacts = new Set(contacts.filter(isChanged).map(({ contact: { name } }) => name));
    return {
      answer: {
        create: created.map((one) => ({ ...shown(one), ...warned(one) })),
        update: updated.map((one) => ({ ...shown(one), changes: one.changes, ...warned(one) })),
        unchanged: planned.filter(({ document, changes }) => document !== null && changes.length === 0).map(shown),
        archive: missing.map((task) => ({ externalKey: fileKeyOf(task), id: task.id })),
        ...(contacts.length === 0 ? {} : { contacts: shownContacts(contacts) }),
      },
      steps: [
        ...file.contacts
          .filter(({ name }) => changedContacts.has(name))
          .map((contact): Step => ({ kind: 'contact', contact })),
        ...[...parentsFirst(created), ...updated].map(taskStep),
        ...missing.map(({ id }): Step => ({ kind: 'archive', taskId: id })),
      ],
      counts: { created: created.length, updated: updated.length, archived: missing.length },
    };
  }

  async #missing(planned: readonly PlannedTask[], context: RequestContext): Promise<readonly TaskDocument[]> {
    const kept = new Set(planned.map(({ taskId }) => taskId));
    const missing: TaskDocument[] = [];
    for await (const task of allTasks(this.#work.planning.readStore, context.organizationId)) {
      if (!kept.has(task.id)) missing.push(task);
    }
    return missing;
  }
}
