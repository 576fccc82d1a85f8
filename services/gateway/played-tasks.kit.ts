/** The tasks service, played for specs of the gateway: the same replies and the same view, without events. */
import type { Bus } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { shadowsView } from '#contracts/shadow';
import { tasksView, type Shadow, type TaskDocument, type TaskSpec, type TaskState } from '#contracts/task';
import { taskCommand, type TaskCommand } from '#contracts/task-command';
import { historyQuery, pastTaskQuery } from '#contracts/task-history';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp } from '#runtime/clock';
import { AppError, notFound, reject } from '#runtime/errors';
import { asJson, type Json, type JsonObject } from '#runtime/json';

/** The settings that a command makes of the old ones. */
function specAfter(command: TaskCommand, old: TaskSpec | undefined, shadow: Shadow | undefined): TaskSpec {
  if ('spec' in command) return command.spec;
  if (old === undefined) throw notFound('notification');
  if (command.type === 'disableAction') throw new Error('nobody here asks for it');
  if (command.type === 'promoteShadow' && shadow !== undefined) {
    const { evaluationFunction, policy } = shadow;
    const code = evaluationFunction === null ? {} : { evaluationFunction };
    return { ...old, ...code, ...(policy === null ? {} : { policy }) };
  }
  if (command.type === 'tagTask') return { ...old, tags: [...new Set([...old.tags, ...command.tags])] };
  if (command.type === 'untagTask') return { ...old, tags: old.tags.filter((one) => !command.tags.includes(one)) };
  if (!('action' in command || 'actionId' in command) || 'recipient' in command) return old;
  if (command.type === 'addAction') return { ...old, actions: [...old.actions, command.action] };
  const { actionId } = command.type === 'removeAction' ? command : { actionId: command.action.id };
  const actions = old.actions.flatMap((action) => {
    if (action.id !== actionId) return [action];
    return command.type === 'removeAction' ? [] : [command.action];
  });
  return { ...old, actions };
}

function statusAfter(command: TaskCommand, old: TaskState['status'] = 'active'): TaskState['status'] {
  if ('status' in command) return command.status;
  if (command.type === 'archiveTask') return 'archived';
  if (command.type === 'pauseTask') return 'paused';
  return command.type === 'resumeTask' || old === 'archived' ? 'active' : old;
}

function shadowAfter(command: TaskCommand, old: Shadow | undefined, actor: string): Shadow | undefined {
  if (command.type === 'startShadow') {
    const { settings, startedAt } = command;
    const isSame = old?.evaluationFunction === settings.evaluationFunction;
    return isSame && old.policy === settings.policy ? old : { ...settings, startedAt, startedBy: actor };
  }
  if (command.type !== 'endShadow' && command.type !== 'promoteShadow') return old;
  if (old === undefined) throw notFound('shadow');
  return undefined;
}

export interface PlayedCommands {
  /** Called before a command is carried out: throws or waits as a spec wants. */
  readonly hooks: { beforeCommand: (command: JsonObject) => Promise<void>; afterCommand: () => Promise<void> };
  /** Commands that were carried out. */
  readonly commands: Json[];
}

export async function playTasks(
  { bus, readStore }: { readonly bus: Bus; readonly readStore: ReadStore },
  kit: PlayedCommands,
  now: () => number,
) {
  const tasks = new Map<string, TaskState>();
  const shadows = new Map<string, Shadow | undefined>();
  const past: TaskDocument[] = [];
  let position = 0;
  await bus.respond(requests.taskChange, async (payload, context) => {
    await kit.hooks.beforeCommand(payload);
    const command = taskCommand.parse(payload);
    const at = toTimestamp(now());
    const old = tasks.get(command.taskId);
    if (command.type === 'createTask' && old !== undefined) return asJson({ state: old, position: null });
    if (command.type !== 'createTask' && (old === undefined || old.organizationId !== context.organizationId)) {
      throw notFound('notification');
    }
    const isGone = old?.status === 'archived' && command.type !== 'restoreTask';
    if (isGone) throw notFound('notification');
    if ('expectedRevision' in command && command.expectedRevision !== null) {
      if (command.expectedRevision !== old?.revision) throw reject('stale_revision', 'It was changed meanwhile.');
    }
    kit.commands.push(asJson(command));
    position += 1;
    const { id, createdAt, createdBy } = old ?? { id: command.taskId, createdAt: at, createdBy: context.actor };
    const before = shadows.get(id);
    const shadow = shadowAfter(command, before, context.actor);
    const spec = specAfter(command, old?.spec, before);
    const status = statusAfter(command, old?.status);
    const changed = JSON.stringify(spec) !== JSON.stringify(old?.spec) || status !== old?.status;
    const revision = old === undefined ? 0 : old.revision + (changed ? 1 : 0);
    const { organizationId } = context;
    const state: TaskState = { id, organizationId, revision, spec, status, createdAt, updatedAt: at, createdBy };
    tasks.set(id, state);
    shadows.set(id, shadow);
    const document: TaskDocument | null =
      status === 'archived'
        ? null
        : {
            ...state,
            status,
            name: spec.name,
            url: spec.url,
            tags: spec.tags,
            externalKey: spec.externalKey,
            condition: 'unknown',
            health: 'ok',
            codeRevision: 0,
            attention: 0,
            nextRunAt: null,
            lastExecution: null,
            ...(shadow === undefined ? {} : { shadow }),
          };
    if (document !== null) past.push(document);
    await readStore.save(tasksView, [{ id, revision: position, document }], position);
    await readStore.save(shadowsView, [], position);
    await kit.hooks.afterCommand();
    return asJson({ state, position });
  });
  await bus.respond(requests.taskAt, async (payload) => {
    const { taskId, moment } = pastTaskQuery.parse(payload);
    const isThen = ({ id, revision, updatedAt }: TaskDocument): boolean =>
      id === taskId && ('at' in moment ? updatedAt <= moment.at : revision === moment.revision);
    const found = past.findLast(isThen);
    if (found !== undefined) return asJson(found);
    throw new AppError('NOT_FOUND', 'at' in moment ? 'not_there_then' : 'no_such_revision', 'It was not there.');
  });
  await bus.respond(requests.taskHistory, async (payload) => {
    const { taskId, before, offset, limit } = historyQuery.parse(payload);
    const total = (tasks.get(taskId)?.revision ?? 0) + 1;
    const until = (before ?? total) - offset;
    const revisions = Array.from({ length: total }, (_, revision) => revision).slice(Math.max(0, until - limit), until);
    const entry = { type: 'task.changed', at: toTimestamp(now()), actor: 'key:x', requestId: 'req' };
    const changes = [{ path: 'actions[0].config.secret', to: { $sealed: 'abc' } }];
    const entries = revisions.map((revision) => ({ revision, ...entry, data: { a: { $sealed: 'x' } }, changes }));
    return { entries: entries.toReversed(), total };
  });
}
