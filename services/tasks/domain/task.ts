/** The task aggregate: what may be done with a notification task, and what follows from it. */
import type { TaskCommand, TaskEvent, TaskSpec, TaskStatus } from '#contracts/task';
import type { Decider } from '#event-store/decider';
import { notFound, unreachable } from '#runtime/errors';

export type Task =
  | { readonly status: 'none' }
  | { readonly status: TaskStatus; readonly spec: TaskSpec; readonly createdBy: string }
  | { readonly status: 'archived'; readonly spec: TaskSpec; readonly createdBy: string };

const initial: Task = { status: 'none' };

function withoutAction(spec: TaskSpec, actionId: string): TaskSpec {
  const actions = spec.actions.map((action) => (action.id === actionId ? { ...action, enabled: false } : action));
  return { ...spec, actions };
}

function evolve(task: Task, event: TaskEvent): Task {
  if (event.type === 'task.created') {
    const { spec, status, createdBy } = event.data;
    return { status, spec, createdBy };
  }
  if (task.status === 'none') return task;
  switch (event.type) {
    case 'task.changed':
      return { ...task, spec: withChanges(task.spec, event.data.changes) };
    case 'task.paused':
      return { ...task, status: 'paused' };
    case 'task.resumed':
      return { ...task, status: 'active' };
    case 'task.action_disabled':
      return { ...task, spec: withoutAction(task.spec, event.data.actionId) };
    case 'task.archived':
      return { ...task, status: 'archived' };
    default:
      return unreachable(event);
  }
}

type Changes = Extract<TaskEvent, { type: 'task.changed' }>['data']['changes'];

/** An absent field means "as it was", never "removed". */
function withChanges(spec: TaskSpec, changes: Changes): TaskSpec {
  return {
    name: changes.name ?? spec.name,
    description: changes.description ?? spec.description,
    url: changes.url ?? spec.url,
    evaluationFunction: changes.evaluationFunction ?? spec.evaluationFunction,
    codeForm: changes.codeForm ?? spec.codeForm,
    actions: changes.actions ?? spec.actions,
    schedule: changes.schedule ?? spec.schedule,
    policy: changes.policy ?? spec.policy,
    fetch: changes.fetch ?? spec.fetch,
    tags: changes.tags ?? spec.tags,
    externalKey: changes.externalKey === undefined ? spec.externalKey : changes.externalKey,
  };
}

function changesBetween(before: TaskSpec, after: TaskSpec): Changes {
  const differs = ([field, value]: readonly [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(Object.entries(before).find(([name]) => name === field)?.[1]);
  return Object.fromEntries(Object.entries(after).filter(differs));
}

function statusEvents(before: TaskStatus, after: TaskStatus): readonly TaskEvent[] {
  if (before === after) return [];
  return after === 'paused' ? [{ type: 'task.paused', data: {} }] : [{ type: 'task.resumed', data: {} }];
}

function decide(command: TaskCommand & { readonly actor: string }, task: Task): readonly TaskEvent[] {
  if (command.type === 'createTask') {
    // The id is derived from the request: the same request again finds its own task.
    if (task.status !== 'none') return [];
    return [{ type: 'task.created', data: { spec: command.spec, status: command.status, createdBy: command.actor } }];
  }
  if (task.status === 'none' || task.status === 'archived') throw notFound('notification');
  switch (command.type) {
    case 'replaceTask': {
      const changes = changesBetween(task.spec, command.spec);
      const changed: readonly TaskEvent[] =
        Object.keys(changes).length === 0 ? [] : [{ type: 'task.changed', data: { changes } }];
      return [...changed, ...statusEvents(task.status, command.status)];
    }
    case 'archiveTask':
      return [{ type: 'task.archived', data: { externalKey: task.spec.externalKey } }];
    case 'disableAction': {
      const action = task.spec.actions.find(({ id }) => id === command.actionId);
      if (action === undefined || !action.enabled) return [];
      return [{ type: 'task.action_disabled', data: { actionId: command.actionId, reason: command.reason } }];
    }
    default:
      return unreachable(command);
  }
}

export type TaskCommandBy = TaskCommand & { readonly actor: string };

export const taskDecider: Decider<Task, TaskCommandBy, TaskEvent> = { initial, evolve, decide };
