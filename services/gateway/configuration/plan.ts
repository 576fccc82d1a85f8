/** From a configuration file to what has to be done: every entry checked against the task that it names. Nothing is written. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestContext } from '#bus/bus';
import { taskInput, tasksView, type TaskDocument, type TaskInput } from '#contracts/task';
import { refuse, validated } from '#http/validation';
import { fieldPath } from '#http/field-path';
import type { ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { isId } from '#runtime/ids';
import { diffPaths } from '#runtime/json-diff';
import type { JsonObject } from '#runtime/json';
import type { Vault } from '#vault/vault';
import { toJsonObject } from '../json-casts.js';
import { checkDependencies, presentTasks, type DependencyLookup } from '../check-dependencies.js';
import type { ContactSaver, PreparedContact } from '../contacts.saver.js';
import type { Base, ComingContacts, Prepared, TaskSaver } from '../save-task.js';
import { masked, secretsOfAction, shownChange, type ShownChange } from '../secrets.js';
import { validatedOfKnown } from '../settings-of-known.js';
import { openSettings } from '../task-answer.js';
import type { Configuration, ConfiguredTask } from './configuration.js';

/** A store in this process answers without a pause: everything else has its turn. */
const entriesATurn = 20;

export interface PlannedTask {
  readonly index: number;
  readonly externalKey: string;
  readonly taskId: string;
  /** null: it is created. */
  readonly document: TaskDocument | null;
  /** What it depends on by ids. */
  readonly entry: ConfiguredTask;
  readonly input: TaskInput;
  readonly prepared: Prepared;
  readonly changes: readonly ShownChange[];
}

export interface Planning {
  readonly contacts: ContactSaver;
  readonly readStore: ReadStore;
  readonly saver: TaskSaver;
  readonly vault: Vault;
}

interface Named {
  readonly index: number;
  readonly entry: ConfiguredTask;
  readonly taskId: string;
  readonly document: TaskDocument | null;
}

const placeOf = (index: number): readonly PropertyKey[] => ['notifications', index];

/** The fault of one entry, with the place of the entry in the file. */
function within(index: number, thrown: unknown): unknown {
  if (!(thrown instanceof AppError)) return thrown;
  const prefix = fieldPath(placeOf(index));
  const details = thrown.details?.map((detail) => ({ ...detail, field: `${prefix}.${detail.field}` }));
  const field = thrown.details?.[0]?.field;
  const message =
    field !== undefined && thrown.message.startsWith(field)
      ? `${prefix}.${thrown.message}`
      : `${prefix}: ${thrown.message}`;
  return new AppError(thrown.code, thrown.reason, message, {
    ...(details === undefined ? {} : { details }),
    ...(thrown.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: thrown.retryAfterSeconds }),
  });
}

async function taskOfKey(readStore: ReadStore, organizationId: string, key: string): Promise<TaskDocument | null> {
  if (isId(key, 'ntf')) {
    const found = await readStore.get(tasksView, key);
    return found?.organizationId === organizationId ? found : null;
  }
  const { documents } = await readStore.page(tasksView, {
    where: [
      { field: 'organizationId', equals: organizationId },
      { field: 'externalKey', equals: key },
    ],
    sort: [{ field: 'createdAt', descending: true }],
    limit: 1,
    offset: 0,
    count: false,
  });
  return documents[0] ?? null;
}

/** Which task each entry is. Two entries of one task contradict each other, whatever they call it. */
async function named(
  { readStore, saver }: Planning,
  { notifications }: Configuration,
  organizationId: string,
): Promise<readonly Named[]> {
  const seen = new Map<string, number>();
  const found: Named[] = [];
  for (const [index, entry] of notifications.entries()) {
    if (index % entriesATurn === 0) await nextTurn();
    const key = entry.externalKey;
    const document = await taskOfKey(readStore, organizationId, key);
    if (document === null && isId(key, 'ntf')) {
      throw refuse([...placeOf(index), 'externalKey'], 'unknown', 'is no notification', 'notification_not_found');
    }
    for (const name of [key, ...(document === null ? [] : [document.id])]) {
      const before = seen.get(name);
      if (before !== undefined && before !== index) {
        const message = `names the same notification as notifications[${before}]`;
        throw refuse([...placeOf(index), 'externalKey'], 'duplicate', message, 'duplicate_key');
      }
      seen.set(name, index);
    }
    found.push({ index, entry, document, taskId: document?.id ?? saver.newTaskId() });
  }
  return found;
}

/**
 * Ids of what an entry depends on: entries of the file by their key, other tasks by key or id. An id that the task depends on
 * already stays, as in any other change of it: what was archived since keeps nobody silent.
 */
async function dependencyIds(
  { readStore }: Planning,
  { index, entry, document }: Named,
  ofFile: ReadonlyMap<string, string>,
  organizationId: string,
): Promise<string[]> {
  return Promise.all(
    entry.policy.dependsOn.map(async (name, at) => {
      const id = ofFile.get(name) ?? (await taskOfKey(readStore, organizationId, name))?.id;
      if (id !== undefined) return id;
      if (document?.spec.policy.dependsOn?.includes(name) === true) return name;
      const field = [...placeOf(index), 'policy', 'dependsOn', at];
      throw refuse(field, 'unknown', 'is not a notification, nor in this file', 'dependency_not_found');
    }),
  );
}

/**
 * Files have no ids of actions: an action is the one of the task with the same settings, else the next one of its type, so
 * that the same file again changes nothing and a masked secret finds its own.
 */
function withActionIds(actions: TaskInput['actions'], base: Base | null): TaskInput['actions'] {
  if (base === null) return actions.map((action) => ({ ...action, id: undefined }));
  const { document, opened } = base;
  const free = document.spec.actions.map(({ id, type, contact }) => ({
    id,
    type,
    contact,
    shown: JSON.stringify(masked(opened.configs.get(id) ?? {}, secretsOfAction(type))),
  }));
  const take = (matches: (one: (typeof free)[number]) => boolean): string | undefined => {
    const at = free.findIndex(matches);
    return at === -1 ? undefined : free.splice(at, 1)[0]?.id;
  };
  const exact = actions.map((action) => {
    const { id } = action;
    if (action.type === undefined) return take((one) => one.id === id) ?? take((one) => one.contact === action.contact);
    const { type, config } = action;
    const shown = JSON.stringify(masked(toJsonObject(config), secretsOfAction(type)));
    return (
      take((one) => one.id === id) ??
      take((one) => one.contact === undefined && one.type === type && one.shown === shown)
    );
  });
  return actions.map((action, at) => ({ ...action, id: exact[at] ?? take(({ type }) => type === action.type) }));
}

function settingsOf({ spec }: Pick<Prepared, 'spec'>, status: string): JsonObject {
  return { ...toJsonObject(spec), status };
}

/** What the entry, whose dependencies are ids by now, makes of the task. Throws its first fault, with its place in the file. */
async function planned(
  { saver, vault }: Planning,
  { index, taskId, externalKey }: Pick<PlannedTask, 'index' | 'taskId' | 'externalKey'>,
  entry: ConfiguredTask,
  document: TaskDocument | null,
  organizationId: string,
  coming: ComingContacts = new Map(),
): Promise<PlannedTask> {
  try {
    const base = document === null ? null : { document, opened: await openSettings(vault, document) };
    const key = isId(externalKey, 'ntf') ? (document?.externalKey ?? null) : externalKey;
    const settings = { ...entry, externalKey: key, actions: withActionIds(entry.actions, base) };
    const input =
      document === null ? validated(taskInput, settings, 'body') : validatedOfKnown(toJsonObject(settings), document);
    const prepared = await saver.plan(input, taskId, organizationId, base, coming);
    const changes =
      document === null
        ? []
        : diffPaths(settingsOf(document, document.status), settingsOf(prepared, input.status)).map(shownChange);
    return { index, externalKey, taskId, document, entry, input, prepared, changes };
  } catch (thrown) {
    throw within(index, thrown);
  }
}

/** The same entry on the task as it is now. */
export function replan(
  planning: Planning,
  before: Pick<PlannedTask, 'index' | 'taskId' | 'externalKey' | 'entry'>,
  document: TaskDocument,
): Promise<PlannedTask> {
  return planned(planning, before, before.entry, document, document.organizationId);
}

/** Tasks as they will be once the file is applied. */
function asApplied(present: DependencyLookup, tasks: readonly PlannedTask[]): DependencyLookup {
  const parents = new Map(tasks.map(({ taskId, input }) => [taskId, input.policy.dependsOn]));
  return {
    isOf: async (organizationId, id) => parents.has(id) || present.isOf(organizationId, id),
    parentsOf: async (id) => parents.get(id) ?? present.parentsOf(id),
  };
}

/** Rejects with the first fault of a contact, naming its place. */
async function plannedContacts(
  { contacts }: Planning,
  file: Configuration,
  organizationId: string,
): Promise<readonly PreparedContact[]> {
  const prepared: PreparedContact[] = [];
  for (const [index, input] of file.contacts.entries()) {
    if (index % entriesATurn === 0) await nextTurn();
    const place = ['contacts', index];
    if (prepared.some(({ contact }) => contact.name === input.name)) {
      throw refuse([...place, 'name'], 'duplicate', 'names a contact that the file has already', 'duplicate_key');
    }
    const known = await contacts.get(organizationId, input.name);
    prepared.push(await contacts.prepare(input, known, organizationId, place));
  }
  return prepared;
}

export interface PlannedConfiguration {
  readonly contacts: readonly PreparedContact[];
  readonly tasks: readonly PlannedTask[];
}

/** Rejects with the first fault of the file, naming its place. */
export async function planConfiguration(
  planning: Planning,
  file: Configuration,
  { organizationId }: RequestContext,
): Promise<PlannedConfiguration> {
  const contacts = await plannedContacts(planning, file, organizationId);
  // Tasks go by contacts of the file before those are written.
  const coming: ComingContacts = new Map(contacts.map(({ contact }) => [contact.name, contact]));
  const entries = await named(planning, file, organizationId);
  const ofFile = new Map(entries.map(({ entry, taskId }) => [entry.externalKey, taskId]));
  const tasks: PlannedTask[] = [];
  for (const one of entries) {
    const { index, entry, document, taskId } = one;
    if (index % entriesATurn === 0) await nextTurn();
    const dependsOn = await dependencyIds(planning, one, ofFile, organizationId);
    const resolved = { ...entry, policy: { ...entry.policy, dependsOn } };
    tasks.push(
      await planned(
        planning,
        { index, taskId, externalKey: entry.externalKey },
        resolved,
        document,
        organizationId,
        coming,
      ),
    );
  }
  const applied = asApplied(presentTasks(planning.readStore), tasks);
  for (const { index, taskId, document, input } of tasks) {
    if (index % entriesATurn === 0) await nextTurn();
    const before = { id: taskId, parents: document?.spec.policy.dependsOn ?? [] };
    await checkDependencies(applied, organizationId, input.policy.dependsOn, before).catch((thrown: unknown) => {
      throw within(index, thrown);
    });
  }
  return { contacts, tasks };
}
