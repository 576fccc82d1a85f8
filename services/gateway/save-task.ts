/** From what a user wrote to the command that the tasks service decides on: checked, masks resolved, ids given, sealed. */
import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import type { ChannelDeclaration } from '#channels/declaration';
import { declarationOf } from '#channels/declarations';
import { sleep } from '#concurrency/sleep';
import { toStoredAction, type StoredAction } from '#contracts/action';
import { membersOf } from '#contracts/common';
import { requests } from '#contracts/catalogue';
import type { StoredContact } from '#contracts/contact';
import { sealedFetchPaths } from '#contracts/fetch';
import { toStoredPolicy } from '#contracts/policy';
import { toStoredSchedule } from '#contracts/schedule';
import {
  purgesView,
  tasksView,
  taskSpec,
  type TaskDocument,
  type TaskInput,
  type TaskSpec,
  type TaskState,
} from '#contracts/task';
import { purgedTask, type TaskCommand } from '#contracts/task-command';
import type { IdempotentAttempt } from '#http/route';
import { refuse } from '#http/validation';
import { createPositionWaiter, type PositionWaiter } from '#read-store/await-position';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { unavailable } from '#runtime/errors';
import { derivedId, IDS, type Ids } from '#runtime/ids';
import type { Json, JsonObject } from '#runtime/json';
import { SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { VAULT, type Vault } from '#vault/vault';
import { checkDependencies, presentTasks } from './check-dependencies.js';
import { checkScheduleIsDue, isStored } from './check-schedule.js';
import { checkSettings, createCodeChecker, type SettingsChecks } from './check-settings.js';
import { asChangedTask, toJsonObject } from './json-casts.js';
import { contactNames, knownContact } from './known-contact.js';
import { PageReach } from './page-reach.js';
import { keepSealed, originOf, secretsOfAction, secretsOfFetch, unmasked } from './secrets.js';
import { actionScope, fetchScope, openSettings, type GeneratedSecrets, type OpenedSettings } from './task-answer.js';

/** A view that is further behind than this is not waited for: the write stands, the answer comes from it. */
const viewWaitMs = 5_000;
/** The key is gone long before; what is waited for is that nothing is left in any file. */
const purgeWaitMs = 25_000;

/** How long and how often to look for the write that came in between. */
const staleWaitMs = 2_000;
const staleLookMs = 10;

export interface SavedTask {
  readonly state: TaskState;
  readonly opened: OpenedSettings;
  readonly generated: GeneratedSecrets;
}

/** `position` null: nothing was written. */
interface ChangedTask {
  readonly state: TaskState;
  readonly position: number | null;
}

/** An action with settings of its own. */
export type TypedAction = Exclude<TaskInput['actions'][number], { readonly type?: undefined }>;

export interface Prepared {
  readonly spec: TaskSpec;
  /** The same in clear, so that the answer need not open what was sealed a moment ago. */
  readonly opened: OpenedSettings;
  readonly generated: GeneratedSecrets;
}

/** The task as it is: its settings as stored and in clear. */
export interface Base {
  readonly document: TaskDocument;
  readonly opened: OpenedSettings;
}

/** Settings with what the user left to the service: as it was before, or made now. `made` names what was. */
export function withGenerated(
  given: JsonObject,
  before: JsonObject | null,
  generated: ChannelDeclaration['generated'],
): { readonly config: JsonObject; readonly made: readonly string[] } {
  const missing = generated.filter(({ name }) => given[name] === undefined);
  const added = missing.map(({ name, prefix, bytes }): [string, Json] => [
    name,
    before?.[name] ?? `${prefix}${randomBytes(bytes).toString('base64')}`,
  ]);
  const made = missing.flatMap(({ name }) => (before?.[name] === undefined ? [name] : []));
  return { config: { ...given, ...Object.fromEntries(added) }, made };
}

/** Each change of a task is stored with it whole, and lists of tasks are read at once. */
const maxTaskBytes = 262_144;

function refuseTooLarge(input: TaskInput): void {
  const bytes = Buffer.byteLength(JSON.stringify(input));
  if (bytes <= maxTaskBytes) return;
  const sizes = Object.entries(input).map(([name, value]) => ({ name, size: JSON.stringify(value ?? null).length }));
  const largest = sizes.reduce((one, other) => (other.size > one.size ? other : one), { name: 'actions', size: 0 });
  const problem = `makes the notification larger than ${maxTaskBytes} bytes in all (it has ${bytes})`;
  throw refuse([largest.name], 'too_large', problem, 'notification_too_large');
}

/** By name. */
export type ComingContacts = ReadonlyMap<string, Pick<StoredContact, 'type'>>;

@Injectable()
export class TaskSaver {
  readonly checks: SettingsChecks;
  readonly #waiter: PositionWaiter;
  readonly #purges: PositionWaiter;

  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(SANDBOX) sandbox: Sandbox,
    @Inject(PageReach) { outbound, rendering }: PageReach,
    @Inject(CONFIG) config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.checks = { config, outbound, code: createCodeChecker(sandbox), rendering };
    this.#waiter = createPositionWaiter(readStore, tasksView);
    this.#purges = createPositionWaiter(readStore, purgesView);
  }

  async create(input: TaskInput, context: RequestContext, attempt: IdempotentAttempt | null): Promise<SavedTask> {
    // Ids of another task's actions, in what GET gave of it.
    const actions = input.actions.map((action) => ({ ...action, id: undefined }));
    const taskId =
      attempt === null
        ? this.ids.next('ntf')
        : derivedId('ntf', attempt.startedAtMs, context.organizationId, attempt.key, String(attempt.startedAtMs));
    await checkDependencies(presentTasks(this.readStore), context.organizationId, input.policy.dependsOn, null);
    const prepared = await this.#prepare({ ...input, actions }, taskId, context.organizationId, null, attempt);
    const { spec } = prepared;
    return this.#saved({ type: 'createTask', taskId, spec, status: input.status }, prepared, context);
  }

  /** What it is to depend on has been checked. Rejects with `stale_revision` where it is no longer at `expectedRevision`. */
  async replace(
    input: TaskInput,
    document: TaskDocument,
    expectedRevision: number,
    context: RequestContext,
  ): Promise<SavedTask> {
    const opened = await openSettings(this.vault, document);
    const { organizationId } = document;
    const prepared = await this.#prepare(input, document.id, organizationId, { document, opened }, null);
    const command: TaskCommand = {
      type: 'replaceTask',
      taskId: document.id,
      spec: prepared.spec,
      status: input.status,
      expectedRevision,
    };
    return this.#saved(command, prepared, context);
  }

  /** The settings as they would be stored, checked but for what the policy depends on. null: of a new task. `coming`: contacts that will be there by then. */
  plan(
    input: TaskInput,
    taskId: string,
    organizationId: string,
    base: Base | null,
    coming: ComingContacts,
  ): Promise<Prepared> {
    return this.#prepare(input, taskId, organizationId, base, null, coming);
  }

  newTaskId(): string {
    return this.ids.next('ntf');
  }

  async archive(taskId: string, expectedRevision: number | null, context: RequestContext): Promise<void> {
    await this.send({ type: 'archiveTask', taskId, expectedRevision }, context);
  }

  /** As it was when it was archived. Rejects with `contact_unknown` where an action goes to a contact that is gone since. */
  async restore(taskId: string, context: RequestContext): Promise<ChangedTask> {
    const contacts = await contactNames(this.readStore, context.organizationId);
    return this.send({ type: 'restoreTask', taskId, contacts }, context);
  }

  /** Of one that is archived, too. Rejects with `purge_under_way` where erasing everything takes longer than a request may. */
  async purge(taskId: string, expectedRevision: number | null, context: RequestContext): Promise<void> {
    const command: TaskCommand = { type: 'purgeTask', taskId, expectedRevision };
    const answer = await this.bus.request(requests.taskChange, toJsonObject(command), context);
    if (await this.#purges.reached(purgedTask.parse(answer).position, purgeWaitMs)) return;
    const message = 'The contents are being erased; that goes on by itself and is not done yet.';
    throw unavailable('purge_under_way', message, 30);
  }

  /** Waits a little until the view shows a later revision than the one that was stale. */
  async seenBeyond(taskId: string, revision: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < staleWaitMs; waitedMs += staleLookMs) {
      const document = await this.readStore.get(tasksView, taskId);
      if (document === null || document.revision > revision) return;
      await sleep(staleLookMs);
    }
  }

  /** Where nothing was written, a repeat has found what was there: that is what is answered. */
  async #saved(command: TaskCommand, prepared: Prepared, context: RequestContext): Promise<SavedTask> {
    const { state, position } = await this.send(command, context);
    const opened = position === null ? await openSettings(this.vault, state) : prepared.opened;
    return { state, opened, generated: prepared.generated };
  }

  /** Sends a command and waits until the view has seen what it did. */
  async send(command: TaskCommand, context: RequestContext): Promise<ChangedTask> {
    const changed = await this.write(command, context);
    await this.seen(changed.position);
    return changed;
  }

  /** Sends a command; the view may not have seen yet what it did. */
  async write(command: TaskCommand, context: RequestContext): Promise<ChangedTask> {
    return asChangedTask(await this.bus.request(requests.taskChange, toJsonObject(command), context));
  }

  /** Waits until the view has seen what was written up to there, and no longer than that. null: nothing was. */
  async seen(position: number | null, waitMs = viewWaitMs): Promise<void> {
    if (position !== null) await this.#waiter.reached(position, waitMs);
  }

  async #prepare(
    input: TaskInput,
    taskId: string,
    organizationId: string,
    base: Base | null,
    attempt: IdempotentAttempt | null,
    coming: ComingContacts = new Map(),
  ): Promise<Prepared> {
    refuseTooLarge(input);
    const codeForm = await checkSettings(this.checks, input);
    if (base === null || !isStored(input.schedule, base.document)) checkScheduleIsDue(input.schedule, this.clock.now());
    const generated = new Map<string, readonly string[]>();
    const actions: StoredAction[] = [];
    const configs = new Map<string, JsonObject>();
    for (const [index, action] of input.actions.entries()) {
      const known = base?.document.spec.actions.find(({ id }) => id === action.id) ?? null;
      if (action.id !== undefined && known === null) {
        throw refuse(['actions', index, 'id'], 'unknown', 'is not an action of this notification', 'action_unknown');
      }
      if (actions.some(({ id }) => id === action.id)) {
        throw refuse(['actions', index, 'id'], 'duplicate', 'stands twice in the list');
      }
      const id = action.id ?? this.#actionId(taskId, index, attempt);
      if (action.type === undefined) {
        const contact =
          coming.get(action.contact) ??
          (await knownContact(this.readStore, organizationId, action.contact, ['actions', index]));
        configs.set(id, {});
        actions.push(toStoredAction({ ...action, id, type: contact.type, config: {} }));
        continue;
      }
      const place = ['actions', index, 'config'];
      const { clear, config, made } = await this.sealedConfig(taskId, { ...action, id }, base, known, place);
      configs.set(id, clear);
      generated.set(id, made);
      actions.push(toStoredAction({ ...action, id, config }));
    }
    const { clear, fetch } = await this.#sealedFetch(taskId, input, base);
    // In the order of the schema, and without what is no setting.
    const spec = membersOf(taskSpec, {
      ...input,
      schedule: toStoredSchedule(input.schedule),
      policy: toStoredPolicy(input.policy),
      codeForm,
      actions,
      fetch,
    });
    return { spec, opened: { configs, fetch: clear }, generated };
  }

  #actionId(taskId: string, index: number, attempt: IdempotentAttempt | null): string {
    return attempt === null
      ? this.ids.next('act')
      : derivedId('act', attempt.startedAtMs, taskId, 'action', String(index));
  }

  async sealedConfig(
    taskId: string,
    action: TypedAction & { readonly id: string },
    base: Base | null,
    known: StoredAction | null,
    field: readonly PropertyKey[],
  ): Promise<{ readonly clear: JsonObject; readonly config: JsonObject; readonly made: readonly string[] }> {
    const { type, id } = action;
    // An action that changes its type is another one: nothing of the old settings is carried over.
    const stored = known !== null && known.type === type && known.contact === undefined ? known.config : null;
    const clear = stored === null ? null : (base?.opened.configs.get(id) ?? null);
    const { sealed, generated } = declarationOf(type);
    const given = unmasked(toJsonObject(action.config), clear, secretsOfAction(type), field);
    const { config, made } = withGenerated(given, clear, generated);
    const unchanged = stored === null || clear === null ? config : keepSealed(config, clear, stored);
    return { clear: config, config: await this.vault.seal(taskId, actionScope(id), unchanged, sealed), made };
  }

  async #sealedFetch(
    taskId: string,
    input: TaskInput,
    base: Base | null,
  ): Promise<{ readonly clear: JsonObject; readonly fetch: JsonObject }> {
    const isMoved = base !== null && originOf(input.url) !== originOf(base.document.spec.url);
    const clear = unmasked(toJsonObject(input.fetch), base?.opened.fetch ?? null, secretsOfFetch, ['fetch'], isMoved);
    const kept = base === null ? clear : keepSealed(clear, base.opened.fetch, base.document.spec.fetch);
    return { clear, fetch: await this.vault.seal(taskId, fetchScope, kept, sealedFetchPaths(clear)) };
  }
}
