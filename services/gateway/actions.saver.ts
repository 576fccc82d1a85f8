/** From an action as a user wrote it to the command that changes its task: checked, masks resolved, sealed. */
import { Inject, Injectable } from '@nestjs/common';
import type { RequestContext } from '#bus/bus';
import { declarationOf } from '#channels/declarations';
import { toStoredAction, type ActionInput, type StoredAction } from '#contracts/action';
import { contactId, contactsView } from '#contracts/contact';
import type { TaskDocument, TaskState } from '#contracts/task';
import type { TaskCommand } from '#contracts/task-command';
import type { IdempotentAttempt } from '#http/route';
import { refuse } from '#http/validation';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import { derivedId, IDS, type Ids } from '#runtime/ids';
import type { JsonObject } from '#runtime/json';
import { VAULT, type Vault } from '#vault/vault';
import { checkAction } from './check-settings.js';
import { knownContact } from './known-contact.js';
import { withRotated } from './rotated-secrets.js';
import { TaskSaver } from './save-task.js';
import { keepSealed } from './secrets.js';
import { actionScope, type OpenedSettings } from './task-answer.js';

/** An action of a task as it is stored, with its settings in clear. */
export interface OpenedAction {
  readonly action: StoredAction;
  readonly config: JsonObject;
}

export interface SavedAction extends OpenedAction {
  /** Of the task. */
  readonly revision: number;
  /** Members of the config that this very request made: shown this once. */
  readonly generated: readonly string[];
}

/** Throws the same 404 for an action that there never was and one that was removed. */
export function actionOf({ spec }: Pick<TaskState, 'spec'>, actionId: string): StoredAction {
  const action = spec.actions.find(({ id }) => id === actionId);
  if (action === undefined) throw notFound('action');
  return action;
}

/** The action with the contact that it goes to, as that is now. Throws where the contact is gone. */
export async function reachedBy(
  readStore: Pick<ReadStore, 'get'>,
  organizationId: string,
  action: StoredAction,
): Promise<StoredAction> {
  if (action.contact === undefined) return action;
  const contact = await readStore.get(contactsView, contactId(organizationId, action.contact));
  if (contact === null) throw notFound('contact');
  return { ...action, type: contact.type, config: contact.config };
}

/** Names a request with an Idempotency-Key among all that there ever were. */
export function repeatIdOf(attempt: IdempotentAttempt | null): string | null {
  return attempt === null ? null : `${attempt.startedAtMs}|${attempt.key}`;
}

@Injectable()
export class ActionSaver {
  readonly #saver: TaskSaver;
  readonly #vault: Vault;
  readonly #ids: Ids;
  readonly #clock: Clock;
  readonly #readStore: ReadStore;

  constructor(
    @Inject(TaskSaver) saver: TaskSaver,
    @Inject(VAULT) vault: Vault,
    @Inject(IDS) ids: Ids,
    @Inject(CLOCK) clock: Clock,
    @Inject(READ_STORE) readStore: ReadStore,
  ) {
    this.#readStore = readStore;
    this.#saver = saver;
    this.#vault = vault;
    this.#ids = ids;
    this.#clock = clock;
  }

  async open({ id, spec }: Pick<TaskState, 'id' | 'spec'>, actionId: string): Promise<OpenedAction> {
    const action = actionOf({ spec }, actionId);
    return { action, config: await this.#vault.open(id, actionScope(actionId), action.config) };
  }

  async add(
    input: ActionInput,
    task: TaskDocument,
    context: RequestContext,
    attempt: IdempotentAttempt | null,
  ): Promise<SavedAction> {
    const id =
      attempt === null
        ? this.#ids.next('act')
        : derivedId('act', attempt.startedAtMs, task.id, 'action', attempt.key, String(attempt.startedAtMs));
    const { action, config, generated } = await this.#prepare({ ...input, id }, task, null);
    const command: TaskCommand = { type: 'addAction', taskId: task.id, action, repeatId: repeatIdOf(attempt) };
    return this.#saved(command, { action, config }, generated, context);
  }

  /** Rejects with `stale_revision` where the task is no longer at `expectedRevision`. */
  async replace(
    input: ActionInput,
    task: TaskDocument,
    known: OpenedAction,
    expectedRevision: number,
    context: RequestContext,
  ): Promise<SavedAction> {
    const { action, config, generated } = await this.#prepare({ ...input, id: known.action.id }, task, known);
    const command: TaskCommand = { type: 'replaceAction', taskId: task.id, action, expectedRevision, repeatId: null };
    return this.#saved(command, { action, config }, generated, context);
  }

  /** Gives the action new secrets; the old ones stay beside them until the overlap ends. Rejects as `replace` does. */
  async rotateSecret(
    task: TaskDocument,
    known: OpenedAction,
    overlapSeconds: number,
    { context, attempt }: { readonly context: RequestContext; readonly attempt: IdempotentAttempt | null },
  ): Promise<SavedAction> {
    if (known.action.contact !== undefined) {
      const problem = 'is where its secret is: rotate that of the contact';
      throw refuse(['contact'], 'no_secret', problem, 'secret_not_rotatable');
    }
    const untilMs = this.#clock.now() + overlapSeconds * 1_000;
    const { config: clear, made } = withRotated(
      known.action.type,
      known.config,
      overlapSeconds === 0 ? null : toTimestamp(untilMs),
    );
    const kept = keepSealed(clear, known.config, known.action.config);
    const { type, id } = known.action;
    const config = await this.#vault.seal(task.id, actionScope(id), kept, declarationOf(type).sealed);
    const action = { ...known.action, config };
    const { id: taskId, revision: expectedRevision } = task;
    const repeatId = repeatIdOf(attempt);
    const command: TaskCommand = { type: 'replaceAction', taskId, action, expectedRevision, repeatId };
    return this.#saved(command, { action, config: clear }, made, context);
  }

  async remove(
    taskId: string,
    actionId: string,
    expectedRevision: number | null,
    context: RequestContext,
  ): Promise<void> {
    await this.#saver.send({ type: 'removeAction', taskId, actionId, expectedRevision }, context);
  }

  async #prepare(
    input: ActionInput & { readonly id: string },
    document: TaskDocument,
    known: OpenedAction | null,
  ): Promise<Omit<SavedAction, 'revision'>> {
    await checkAction(this.#saver.checks, input, []);
    if (input.type === undefined) {
      const { type } = await knownContact(this.#readStore, document.organizationId, input.contact, []);
      return { action: toStoredAction({ ...input, type, config: {} }), config: {}, generated: [] };
    }
    const configs = new Map(known === null ? [] : [[known.action.id, known.config]]);
    const opened: OpenedSettings = { configs, fetch: {} };
    const base = known === null ? null : { document, opened };
    const sealed = await this.#saver.sealedConfig(document.id, input, base, known?.action ?? null, ['config']);
    const action = toStoredAction({ ...input, config: sealed.config });
    return { action, config: sealed.clear, generated: sealed.made };
  }

  /** Where nothing was written, a repeat has found what was there: that is what is answered. */
  async #saved(
    command: TaskCommand,
    prepared: OpenedAction,
    generated: readonly string[],
    context: RequestContext,
  ): Promise<SavedAction> {
    const { state, position } = await this.#saver.send(command, context);
    const saved = position === null ? await this.open(state, prepared.action.id) : prepared;
    return { ...saved, revision: state.revision, generated };
  }
}
