/**
 * What a configuration file is about to change, on record before the first change: where the process dies in the middle, the next
 * one finishes it. One per organisation at a time, over all gateways.
 */
import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { RequestContext } from '#bus/bus';
import { createKeyedQueue } from '#concurrency/keyed-queue';
import { contactInput } from '#contracts/contact';
import { taskStatus, type TaskSpec } from '#contracts/task';
import { LEASES, type Leases } from '#leases/leases';
import { AppError } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';
import { SHARED_STATE, type SharedState, type StateCollection } from '#shared-state/shared-state';
import { VAULT, type Vault } from '#vault/vault';
import { toJsonObject } from '../json-casts.js';
import { configuredTask } from './configuration.js';

const plannedSpec = z.custom<TaskSpec>((value) => typeof value === 'object' && value !== null);

/** One write, in the order of writing. */
const step = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('contact'), contact: contactInput }),
  z.object({
    kind: z.literal('task'),
    index: z.int(),
    externalKey: z.string(),
    taskId: z.string(),
    /** Its dependencies are ids by now. */
    entry: configuredTask,
    spec: plannedSpec,
    status: taskStatus,
    /** null: it is created. */
    revision: z.int().nullable(),
  }),
  z.object({ kind: z.literal('archive'), taskId: z.string() }),
]);
export type Step = z.output<typeof step>;
export type TaskStep = Extract<Step, { readonly kind: 'task' }>;
/** Another version has stored it, and this one does not know what it says. */
export interface UnreadableStep {
  readonly kind: 'unreadable';
}

export interface Journal {
  readonly id: string;
  readonly organizationId: string;
  /** The process that is at it. */
  readonly memberId: string;
  readonly actor: string;
  readonly requestId: string;
  /** Not until all its steps are stored: before that nothing is written, and nothing will be. */
  readonly isDecided: boolean;
  readonly steps: number;
  readonly counts: { readonly created: number; readonly updated: number; readonly archived: number };
  /** How often it ended in an error that nobody expects. Absent: never. */
  readonly failures?: number;
}

interface StoredStep {
  /** Whose key seals it: a task's contents go with the task. */
  readonly ownerId: string;
  readonly content: JsonObject;
}

const journals: StateCollection<Journal> = { name: 'apply_journals', indexedBy: null };
const journalSteps: StateCollection<StoredStep> = { name: 'apply_journal_steps', indexedBy: null };

const scope = 'apply';
const stepsAtOnce = 200;
const mostJournals = 10_000;

const nothingCounted = { created: 0, updated: 0, archived: 0 };

/** Organisations of which a file is not written whole. */
export async function unfinishedIn(sharedState: Pick<SharedState, 'list'>): Promise<readonly string[]> {
  const all = await sharedState.list(journals, mostJournals);
  return all.flatMap(({ isDecided, organizationId }) => (isDecided ? [organizationId] : []));
}

@Injectable()
export class ApplyJournals {
  readonly #sharedState: SharedState;
  readonly #vault: Vault;
  readonly #leases: Leases;
  /** Those of this process need not ask each other: in its turn, a journal of this process is one that was left behind. */
  readonly #queue = createKeyedQueue();

  constructor(
    @Inject(SHARED_STATE) sharedState: SharedState,
    @Inject(VAULT) vault: Vault,
    @Inject(LEASES) leases: Leases,
  ) {
    this.#sharedState = sharedState;
    this.#vault = vault;
    this.#leases = leases;
  }

  inTurn<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(organizationId, work);
  }

  /** Organisations that have one, also where a process is at it. */
  async organizations(): Promise<readonly string[]> {
    const all = await this.#sharedState.list(journals, mostJournals);
    return all.map(({ organizationId }) => organizationId);
  }

  /** Asked in turn. null: there is none, or a process that lives is at it. */
  async leftBehind(organizationId: string): Promise<Journal | null> {
    const journal = (await this.#stored(organizationId))?.value ?? null;
    if (journal === null) return null;
    const { memberId } = journal;
    return memberId === this.#leases.memberId || !this.#leases.isLiving(memberId) ? journal : null;
  }

  /** Asked in turn. null: there is one, and it was not left behind a moment ago. */
  async begin({ organizationId, actor, requestId }: RequestContext): Promise<Journal | null> {
    const { memberId } = this.#leases;
    const begun = { id: randomUUID(), organizationId, memberId, actor, requestId };
    const journal: Journal = { ...begun, isDecided: false, steps: 0, counts: nothingCounted };
    const before = await this.#stored(organizationId);
    if ((before?.value ?? null) !== null) return null;
    const version = (before?.version ?? 0) + 1;
    await this.#sharedState.save(journals, [{ key: organizationId, version, value: journal }]);
    return (await this.#stored(organizationId))?.value?.id === journal.id ? journal : null;
  }

  /** Once it resolves, the steps are carried out, whatever happens to this process. */
  async decide(journal: Journal, steps: readonly Step[], counts: Journal['counts']): Promise<Journal> {
    const counted = { ...journal, steps: steps.length, counts };
    // Who finds it knows how many there may be.
    await this.#replace(counted);
    for (let at = 0; at < steps.length; at += stepsAtOnce) {
      const some = steps.slice(at, at + stepsAtOnce);
      const writes = some.map(async (one, index) => ({
        key: stepKey(journal, at + index),
        version: 1,
        value: await this.#seal(one, journal.organizationId),
      }));
      await this.#sharedState.save(journalSteps, await Promise.all(writes));
    }
    const decided = { ...counted, isDecided: true };
    await this.#replace(decided);
    return decided;
  }

  /** It ended in an error that nobody expects, and is still there. */
  async noteFailure(journal: Journal): Promise<void> {
    await this.#replace({ ...journal, failures: (journal.failures ?? 0) + 1 });
  }

  /** Those of a task whose contents are gone are left out. */
  async *steps(journal: Journal): AsyncGenerator<Step | UnreadableStep> {
    for (let at = 0; at < journal.steps; at += stepsAtOnce) {
      const keys = keysFrom(journal, at);
      const found = await this.#sharedState.load(journalSteps, keys);
      for (const key of keys) {
        const stored = found.get(key)?.value ?? null;
        const opened = stored === null ? null : await this.#open(stored);
        if (opened !== null) yield opened;
      }
    }
  }

  /** Nothing is left of it: the next one may begin. */
  async end(journal: Journal): Promise<void> {
    const stored = (await this.#stored(journal.organizationId))?.value ?? null;
    // Where it could not be decided, some of its steps may be there.
    const known = stored?.id === journal.id ? stored : journal;
    for (let at = 0; at < known.steps; at += stepsAtOnce) {
      const found = await this.#sharedState.load(journalSteps, keysFrom(known, at));
      const writes = [...found.values()].map(({ key, version }) => ({ key, version: version + 1, value: null }));
      if (writes.length > 0) await this.#sharedState.save(journalSteps, writes);
    }
    await this.#replace(journal, null);
  }

  async #stored(organizationId: string) {
    return (await this.#sharedState.load(journals, [organizationId])).get(organizationId);
  }

  async #replace(journal: Journal, value: Journal | null = journal): Promise<void> {
    const before = await this.#stored(journal.organizationId);
    // Another process has finished it.
    if (before?.value?.id !== journal.id) return;
    const write = { key: journal.organizationId, version: before.version + 1, value };
    await this.#sharedState.save(journals, [write]);
  }

  async #seal(one: Step, organizationId: string): Promise<StoredStep> {
    const ownerId = one.kind === 'contact' ? organizationId : one.taskId;
    return { ownerId, content: await this.#vault.seal(ownerId, scope, { content: toJsonObject(one) }, ['content']) };
  }

  async #open({ ownerId, content }: StoredStep): Promise<Step | UnreadableStep | null> {
    try {
      const opened = await this.#vault.open(ownerId, scope, content);
      return step.safeParse(opened['content']).data ?? { kind: 'unreadable' };
    } catch (error) {
      if (error instanceof AppError && error.reason === 'secret_unreadable') return null;
      throw error;
    }
  }
}

function stepKey({ id }: Journal, index: number): string {
  return `${id}-${index}`;
}

function keysFrom(journal: Journal, at: number): readonly string[] {
  const count = Math.min(stepsAtOnce, journal.steps - at);
  return Array.from({ length: count }, (_, index) => stepKey(journal, at + index));
}
