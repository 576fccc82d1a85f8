/** The task aggregate: what may be done with a notification task, and what follows from it. */
import { mostActions, type StoredAction } from '#contracts/action';
import {
  isSameRecipient,
  mostTags,
  taskFold,
  type Shadow,
  type Task,
  type TaskEvent,
  type TaskSpec,
  type TaskStatus,
} from '#contracts/task';
import type { TaskCommand } from '#contracts/task-command';
import type { Decider } from '#eventing/decider';
import { notFound, reject, unreachable } from '#runtime/errors';
import { jsonEquals } from '#runtime/json';

type Changes = Extract<TaskEvent, { type: 'task.changed' }>['data']['changes'];

function changesBetween(before: TaskSpec, after: TaskSpec): Changes {
  const known = new Map<string, unknown>(Object.entries(before));
  const differs = ([field, value]: readonly [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(known.get(field));
  return Object.fromEntries(Object.entries(after).filter(differs));
}

function statusEvents(before: TaskStatus, after: TaskStatus): readonly TaskEvent[] {
  if (before === after) return [];
  return after === 'paused' ? [{ type: 'task.paused', data: {} }] : [{ type: 'task.resumed', data: {} }];
}

/** Of a task as it is stored, with what is sealed: more than the settings that are taken whole ever make. */
const maxStoredCharacters = 524_288;

/** Nothing where the list is as it was. */
function actionsEvents(spec: TaskSpec, actions: readonly StoredAction[]): readonly TaskEvent[] {
  if (JSON.stringify({ ...spec, actions }).length > maxStoredCharacters) {
    const message = 'makes the notification larger than may be stored';
    throw reject('notification_too_large', `actions ${message}.`, [{ field: 'actions', rule: 'too_large', message }]);
  }
  const changes = changesBetween(spec, { ...spec, actions: [...actions] });
  return Object.keys(changes).length === 0 ? [] : [{ type: 'task.changed', data: { changes } }];
}

function added(spec: TaskSpec, action: StoredAction): readonly TaskEvent[] {
  // The id is derived from the request where that may be repeated.
  if (spec.actions.some(({ id }) => id === action.id)) return [];
  if (spec.actions.length >= mostActions) {
    const message = `must have at most ${mostActions} entries`;
    throw reject('actions_too_many', `actions ${message}.`, [{ field: 'actions', rule: 'too_many', message }]);
  }
  return actionsEvents(spec, [...spec.actions, action]);
}

function tagged(spec: TaskSpec, more: readonly string[]): readonly TaskEvent[] {
  const tags = [...new Set([...spec.tags, ...more])];
  if (tags.length > mostTags) {
    const message = `must have at most ${mostTags} entries`;
    throw reject('tags_too_many', `tags ${message}.`, [{ field: 'tags', rule: 'too_many', message }]);
  }
  return tagsEvents(spec, tags);
}

/** Nothing where the list is as it was. */
function tagsEvents(spec: TaskSpec, tags: string[]): readonly TaskEvent[] {
  return tags.length === spec.tags.length ? [] : [{ type: 'task.changed', data: { changes: { tags } } }];
}

function checkAction({ actions }: TaskSpec, actionId: string): void {
  if (!actions.some(({ id }) => id === actionId)) throw notFound('action');
}

function shadowStarted(
  { settings, startedAt, actor }: Extract<TaskCommandBy, { readonly type: 'startShadow' }>,
  before: Shadow | undefined,
): readonly TaskEvent[] {
  if (before !== undefined) {
    const { startedAt: _startedAt, startedBy: _startedBy, ...known } = before;
    if (jsonEquals(known, settings)) return [];
  }
  return [{ type: 'task.shadow_started', data: { shadow: { ...settings, startedAt, startedBy: actor } } }];
}

/** The settings that it has of its own become the task's. */
function promoted(spec: TaskSpec, { evaluationFunction, codeForm, policy }: Shadow): readonly TaskEvent[] {
  const changes = changesBetween(spec, {
    ...spec,
    ...(evaluationFunction === null || codeForm === null ? {} : { evaluationFunction, codeForm }),
    ...(policy === null ? {} : { policy }),
  });
  const ended: TaskEvent = { type: 'task.shadow_ended', data: { reason: 'promoted' } };
  return Object.keys(changes).length === 0 ? [ended] : [{ type: 'task.changed', data: { changes } }, ended];
}

/** What comes with a command from its context. */
export type TaskCommandBy =
  | (Exclude<TaskCommand, { readonly type: 'restoreTask' }> & { readonly actor: string })
  | (Extract<TaskCommand, { readonly type: 'restoreTask' }> & { readonly actor: string; readonly createdAt: string });

/** A contact may be removed while nothing but archived tasks names it. */
function checkContacts({ actions }: TaskSpec, contacts: readonly string[]): void {
  const gone = actions.flatMap(({ contact }, index) =>
    contact === undefined || contacts.includes(contact) ? [] : [{ contact, index }],
  );
  if (gone.length === 0) return;
  const names = [...new Set(gone.map(({ contact }) => contact))].join(', ');
  const details = gone.map(({ contact, index }) => ({
    field: `actions[${index}].contact`,
    rule: 'unknown',
    message: `${contact} is no contact of this organisation any more`,
  }));
  throw reject('contact_unknown', `Its actions go to contacts that are gone: make ${names} again first.`, details);
}

/** As it was when it was archived; one that is not archived stays as it is. */
function restored(task: Task, createdAt: string, contacts: readonly string[]): readonly TaskEvent[] {
  if (task.status === 'none') throw notFound('notification');
  if (task.status !== 'archived') return [];
  const { spec, was: status, createdBy } = task;
  checkContacts(spec, contacts);
  return [{ type: 'task.restored', data: { spec, status, createdBy, createdAt } }];
}

/** What derives from it forgets it first, as of any that is archived. */
function purged(task: Task): readonly TaskEvent[] {
  const end: TaskEvent = { type: 'task.purged', data: {} };
  switch (task.status) {
    case 'none':
      if (task.isPurged === true) return [];
      throw notFound('notification');
    case 'archived':
      return [end];
    case 'active':
    case 'paused':
      return [{ type: 'task.archived', data: { externalKey: task.spec.externalKey } }, end];
    default:
      return unreachable(task);
  }
}

function decide(command: TaskCommandBy, task: Task): readonly TaskEvent[] {
  if (command.type === 'createTask') {
    // The id is derived from the request: the same request again finds its own task.
    if (task.status !== 'none') return [];
    if (task.isPurged === true) throw notFound('notification');
    return [{ type: 'task.created', data: { spec: command.spec, status: command.status, createdBy: command.actor } }];
  }
  if (command.type === 'restoreTask') return restored(task, command.createdAt, command.contacts);
  if (command.type === 'purgeTask') return purged(task);
  if (task.status === 'none' || task.status === 'archived') throw notFound('notification');
  switch (command.type) {
    case 'replaceTask': {
      const changes = changesBetween(task.spec, command.spec);
      const changed: readonly TaskEvent[] =
        Object.keys(changes).length === 0 ? [] : [{ type: 'task.changed', data: { changes } }];
      return [...changed, ...statusEvents(task.status, command.status)];
    }
    case 'startShadow':
      return shadowStarted(command, task.shadow);
    case 'endShadow':
      if (task.shadow === undefined) throw notFound('shadow');
      return [{ type: 'task.shadow_ended', data: { reason: 'removed' } }];
    case 'promoteShadow':
      if (task.shadow === undefined) throw notFound('shadow');
      return promoted(task.spec, task.shadow);
    case 'acknowledgeTask': {
      const { episodes, until, note } = command;
      const taken = { episodes, until, note };
      if (task.acknowledged !== undefined && jsonEquals(task.acknowledged, taken)) return [];
      return [{ type: 'task.acknowledged', data: taken }];
    }
    case 'leaveRecipients':
    case 'rejoinRecipients': {
      const { actionId, recipient, shown } = command;
      checkAction(task.spec, actionId);
      const one = { actionId, recipient, shown };
      const hasLeft = (task.left ?? []).some((other) => isSameRecipient(other, one));
      if (hasLeft === (command.type === 'leaveRecipients')) return [];
      return [{ type: hasLeft ? 'task.recipient_returned' : 'task.recipient_left', data: one }];
    }
    case 'pauseTask':
      return statusEvents(task.status, 'paused');
    case 'resumeTask':
      return statusEvents(task.status, 'active');
    case 'tagTask':
      return tagged(task.spec, command.tags);
    case 'untagTask':
      return tagsEvents(
        task.spec,
        task.spec.tags.filter((one) => !command.tags.includes(one)),
      );
    case 'addAction':
      return added(task.spec, command.action);
    case 'replaceAction': {
      const { action } = command;
      checkAction(task.spec, action.id);
      return actionsEvents(
        task.spec,
        task.spec.actions.map((one) => (one.id === action.id ? action : one)),
      );
    }
    case 'removeAction':
      checkAction(task.spec, command.actionId);
      return actionsEvents(
        task.spec,
        task.spec.actions.filter(({ id }) => id !== command.actionId),
      );
    case 'archiveTask':
      return [{ type: 'task.archived', data: { externalKey: task.spec.externalKey } }];
    case 'disableAction': {
      const { actionId, reason, deliveryId, at } = command;
      const action = task.spec.actions.find(({ id }) => id === actionId);
      if (action === undefined || !action.enabled) return [];
      return [{ type: 'task.action_disabled', data: { actionId, reason, deliveryId, at } }];
    }
    default:
      return unreachable(command);
  }
}

export const taskDecider: Decider<Task, TaskCommandBy, TaskEvent> = { ...taskFold, decide };
