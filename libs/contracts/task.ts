/** Notification tasks: what users write, the events that say what became of it, and the document that answers questions. */
import { z } from 'zod';
import { actionInput, mostActions, storedAction } from './action.js';
import { idSchema, json, plainLine, storedTimestamp, webAddress } from './common.js';
import { defineEvent, type EventOf, type Fold } from './event.js';
import { fetchSettings, storedFetch } from './fetch.js';
import { condition, health, policy, storedPolicy } from './policy.js';
import { defaultSchedule, schedule, storedSchedule, wholeSchedule } from './schedule.js';
import type { ViewDefinition } from '#read-store/read-store';
import { unreachable } from '#runtime/errors';
import { isId } from '#runtime/ids';
import { codeForms } from '#sandbox/sandbox';

export const tagForm = /^[A-Za-z0-9._:-]{1,50}$/;
export const tag = z.string().regex(tagForm, { error: 'must be 1 to 50 of A-Z a-z 0-9 . _ : -' });

/** Of one task. */
export const mostTags = 20;

/** Code is limited in bytes, not characters. */
const evaluationCode = z
  .string()
  .min(1)
  .refine((code) => Buffer.byteLength(code) <= 65_536, { error: 'must be at most 65,536 bytes' });

export const taskStatus = z.enum(['active', 'paused']);
export type TaskStatus = z.infer<typeof taskStatus>;

/** Tabs and line breaks aside. */
const plainText = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$/;

const text = {
  name: z
    .string()
    .min(1, { abort: true })
    .max(200)
    .regex(plainLine.notBlank, { error: 'must not be blank' })
    .regex(plainLine.noControls, { error: 'must be one line without control characters' })
    .regex(plainLine.noTurns, { error: 'must not have marks that change the direction of text' })
    .describe('What people call it.'),
  description: z
    .string()
    .max(2_000)
    .regex(plainText, { error: 'must not have control characters but tabs and line breaks' })
    .default('')
    .describe('Free text.'),
  url: webAddress.describe('The page, without a user name or password inside.'),
  evaluationFunction: evaluationCode.describe(
    'A script body that reads the page through `document` and returns a boolean. At most 65,536 bytes.',
  ),
  schedule: schedule.default(() => wholeSchedule(defaultSchedule)).describe('When it runs.'),
  policy: policy.prefault({}).describe('When an outcome becomes a notification.'),
  tags: z.array(tag).max(mostTags).default([]).describe('Words to find it by.'),
  externalKey: z
    .string()
    .min(1)
    .max(200)
    .regex(plainLine.noControls, { error: 'must be one line without control characters' })
    .regex(plainLine.noTurns, { error: 'must not have marks that change the direction of text' })
    // A file names tasks by key or id: such a key would be taken for the task that has the id.
    .refine((key) => !isId(key, 'ntf'), {
      error:
        'must not look like the id of a notification: use a name of your own, such as kettle-price, or null for none',
    })
    .nullable()
    .default(null)
    .describe('The name that configuration as code knows it by; unique in the organisation.'),
};

/** The body of `POST /api/notifications`, and of PUT less its read-only fields. */
export const taskInput = z
  .strictObject({
    ...text,
    actions: z.array(actionInput).max(mostActions).default([]).describe('Who is told, and how.'),
    fetch: fetchSettings.prefault({}).describe('How the page is loaded.'),
    status: taskStatus.default('active').describe('A task that is paused does not run by itself.'),
  })
  .meta({ id: 'NotificationInput' });
export type TaskInput = z.infer<typeof taskInput>;

export const codeForm = z.enum(codeForms);

/** A task's settings as stored: secrets sealed, actions with ids, the code's form decided. */
export const taskSpec = z.object({
  name: z.string(),
  description: z.string(),
  url: z.string(),
  evaluationFunction: z.string(),
  codeForm,
  actions: z.array(storedAction),
  schedule: storedSchedule,
  policy: storedPolicy,
  fetch: storedFetch,
  tags: z.array(z.string()),
  externalKey: z.string().nullable(),
});
export type TaskSpec = z.infer<typeof taskSpec>;

/** Other code, another policy or both, judged beside the task's own on each page. null: as the task has it. */
export const shadowSettings = z.object({
  evaluationFunction: z.string().nullable(),
  codeForm: codeForm.nullable(),
  policy: storedPolicy.nullable(),
});

/** `startedAt` tells it from an earlier one of the same task. */
export const shadow = shadowSettings.extend({ startedAt: storedTimestamp, startedBy: z.string() });
export type Shadow = z.infer<typeof shadow>;

/** `episodes`: what was open then. `until` null: until it ends. */
export const acknowledged = z.object({
  episodes: z.array(z.string()),
  until: storedTimestamp.nullable(),
  note: z.string().nullable(),
});
export type Acknowledged = z.infer<typeof acknowledged>;

/** An action that was disabled because of what its receiver answered. `deliveryId`: which delivery found it out. */
const disabledAction = z.object({
  actionId: idSchema('act'),
  reason: z.string(),
  deliveryId: idSchema('dlv'),
  at: storedTimestamp,
});
export type DisabledAction = z.infer<typeof disabledAction>;

export const leftRecipient = z.object({ actionId: idSchema('act'), recipient: z.string(), shown: z.string() });
export type LeftRecipient = z.infer<typeof leftRecipient>;

export function isSameRecipient(one: LeftRecipient, other: LeftRecipient): boolean {
  return one.actionId === other.actionId && one.recipient === other.recipient;
}

export const taskEvents = [
  defineEvent('task.created', {
    version: 1,
    schema: z.object({ spec: taskSpec, status: taskStatus, createdBy: z.string() }),
  }),
  /** Only what differs. */
  defineEvent('task.changed', { version: 1, schema: z.object({ changes: taskSpec.partial() }) }),
  defineEvent('task.paused', { version: 1, schema: z.object({}) }),
  defineEvent('task.resumed', { version: 1, schema: z.object({}) }),
  /** A receiver said that it is gone for good. */
  defineEvent('task.action_disabled', {
    version: 1,
    schema: z.object({
      actionId: idSchema('act'),
      reason: z.string(),
      /** The first events have neither. */
      deliveryId: idSchema('dlv').exactOptional(),
      at: storedTimestamp.exactOptional(),
    }),
  }),
  defineEvent('task.archived', { version: 1, schema: z.object({ externalKey: z.string().nullable() }) }),
  /** Its contents are gone for good: the key that they were sealed with is dropped. Nothing comes after it. */
  defineEvent('task.purged', { version: 1, schema: z.object({}) }),
  /** Whole, like `task.created`: what derives from a task has forgotten it when it was archived. */
  defineEvent('task.restored', {
    version: 1,
    schema: z.object({ spec: taskSpec, status: taskStatus, createdBy: z.string(), createdAt: storedTimestamp }),
  }),
  /** In place of the one before, if there was one. */
  defineEvent('task.shadow_started', { version: 1, schema: z.object({ shadow }) }),
  /** `promoted`: the change before it made its settings the task's. */
  defineEvent('task.shadow_ended', { version: 1, schema: z.object({ reason: z.enum(['removed', 'promoted']) }) }),
  /** Somebody has taken on what is open. */
  defineEvent('task.acknowledged', { version: 1, schema: acknowledged }),
  /** A recipient wants no more mails of an action. `recipient`: a name that no address can be read from; `shown`: masked. */
  defineEvent('task.recipient_left', {
    version: 1,
    schema: leftRecipient,
  }),
  defineEvent('task.recipient_returned', {
    version: 1,
    schema: leftRecipient,
  }),
] as const;
export type TaskEvent = EventOf<(typeof taskEvents)[number]>;

/** Where a task's own events are. */
export const taskStream = (taskId: string): string => `task-${taskId}`;

/** What a task's events say of it. The answer to a command (`TaskState`) adds what the stream and its metadata say. */
export type Task =
  /** `isPurged`: it was there, and its contents are gone for good. */
  | { readonly status: 'none'; readonly isPurged?: true }
  | {
      readonly status: TaskStatus;
      readonly spec: TaskSpec;
      readonly createdBy: string;
      /** Absent: none. */
      readonly shadow?: Shadow | undefined;
      /** Absent: nobody has. What it is about may be over. */
      readonly acknowledged?: Acknowledged | undefined;
      /** Recipients who want no more mails. Absent: none. */
      readonly left?: readonly LeftRecipient[] | undefined;
      /** Until a person enables them again. Absent: none. */
      readonly disabled?: readonly DisabledAction[] | undefined;
    }
  | {
      readonly status: 'archived';
      /** Before it was archived. */
      readonly was: TaskStatus;
      readonly spec: TaskSpec;
      readonly createdBy: string;
    };

function withoutAction(spec: TaskSpec, actionId: string): TaskSpec {
  const actions = spec.actions.map((action) => (action.id === actionId ? { ...action, enabled: false } : action));
  return { ...spec, actions };
}

/** What was disabled and was not enabled or removed since. */
function stillDisabled(
  disabled: readonly DisabledAction[] | undefined,
  { actions }: TaskSpec,
): readonly DisabledAction[] | undefined {
  const left = disabled?.filter(({ actionId }) => actions.some(({ id, enabled }) => id === actionId && !enabled)) ?? [];
  return left.length === 0 ? undefined : left;
}

type Changes = Extract<TaskEvent, { type: 'task.changed' }>['data']['changes'];

/** An absent field means "as it was", never "removed". */
function withChanges(spec: TaskSpec, changes: Changes): TaskSpec {
  return Object.assign({}, spec, changes);
}

function afterEvent(task: Task, event: TaskEvent): Task {
  if (event.type === 'task.created' || event.type === 'task.restored') {
    const { spec, status, createdBy } = event.data;
    return { status, spec, createdBy };
  }
  if (event.type === 'task.purged') return { status: 'none', isPurged: true };
  if (task.status === 'none') return task;
  switch (event.type) {
    case 'task.changed': {
      const spec = withChanges(task.spec, event.data.changes);
      return task.status === 'archived'
        ? { ...task, spec }
        : { ...task, spec, disabled: stillDisabled(task.disabled, spec) };
    }
    case 'task.paused':
      return { ...task, status: 'paused' };
    case 'task.resumed':
      return { ...task, status: 'active' };
    case 'task.action_disabled': {
      const { actionId, reason, deliveryId, at } = event.data;
      const spec = withoutAction(task.spec, actionId);
      if (task.status === 'archived' || deliveryId === undefined || at === undefined) return { ...task, spec };
      const others = (task.disabled ?? []).filter((one) => one.actionId !== actionId);
      return { ...task, spec, disabled: [...others, { actionId, reason, deliveryId, at }] };
    }
    case 'task.archived': {
      if (task.status === 'archived') return task;
      const { spec, createdBy } = task;
      return { status: 'archived', was: task.status, spec, createdBy };
    }
    case 'task.shadow_started':
      return task.status === 'archived' ? task : { ...task, shadow: event.data.shadow };
    case 'task.shadow_ended':
      return task.status === 'archived' ? task : { ...task, shadow: undefined };
    case 'task.acknowledged':
      return task.status === 'archived' ? task : { ...task, acknowledged: event.data };
    case 'task.recipient_left':
    case 'task.recipient_returned': {
      if (task.status === 'archived') return task;
      const others = (task.left ?? []).filter((one) => !isSameRecipient(one, event.data));
      const left = event.type === 'task.recipient_left' ? [...others, event.data] : others;
      return { ...task, left: left.length === 0 ? undefined : left };
    }
    default:
      return unreachable(event);
  }
}

/** After it the task is not there, for all but the audit. */
export function isGone({ type }: { readonly type: string }): boolean {
  return type === 'task.archived' || type === 'task.purged';
}

export const taskFold: Fold<Task, TaskEvent> = { initial: { status: 'none' }, evolve: afterEvent };

/** After this event the condition is unknown: what was found before says nothing about the present. */
export function forgetsCondition(event: TaskEvent): boolean {
  return (
    event.type === 'task.resumed' ||
    (event.type === 'task.changed' && event.data.changes.evaluationFunction !== undefined)
  );
}

/** No documents: how far purges are carried out is its checkpoint. */
export const purgesView: ViewDefinition = { name: 'purges', fields: [], indexes: [] };

/** A stream per external key: its last event says which task holds it. */
export const externalKeyClaimed = defineEvent('externalkey.claimed', {
  version: 1,
  schema: z.object({ taskId: idSchema('ntf') }),
});
export type ExternalKeyEvent = EventOf<typeof externalKeyClaimed>;

/** The answer: the state that the command produced. */
export const taskState = z.object({
  id: idSchema('ntf'),
  organizationId: idSchema('org'),
  revision: z.int(),
  spec: taskSpec,
  status: z.enum(['active', 'paused', 'archived']),
  createdAt: storedTimestamp,
  updatedAt: storedTimestamp,
  createdBy: z.string(),
});
export type TaskState = z.infer<typeof taskState>;

export const lastExecution = z
  .object({
    id: idSchema('exe').describe('Of the execution.'),
    finishedAt: storedTimestamp.describe('When it ended.'),
    status: z.string().describe('How it ended.'),
    outcome: z.boolean().nullable().describe('What the code answered; null where it failed.'),
    durationMs: z.number().describe('From its start to its end.'),
    value: json.describe('*The* value of what the code reported, or null.'),
    reason: z.string().nullable().describe('Of an error.'),
  })
  .meta({ id: 'LastExecution' });

/** The view `tasks`, one document per task that is not archived. Fields that lists filter and sort by stand at the top. */
export const taskDocument = taskState.extend({
  status: taskStatus,
  name: z.string(),
  url: z.string(),
  tags: z.array(z.string()),
  externalKey: z.string().nullable(),
  condition,
  health,
  /** The last revision that edited the code or unpaused: what was found before says nothing about the present. */
  codeRevision: z.int(),
  /** How much it wants to be looked at (`attentionOf`): lists sort by it. */
  attention: z.int(),
  nextRunAt: storedTimestamp.nullable(),
  lastExecution: lastExecution.nullable(),
  /** Absent: none. */
  shadow: shadow.optional(),
  /** What is open: of the condition, of errors, or both. Absent: nothing. */
  openEpisodes: z.array(z.string()).exactOptional(),
  /** While one of its episodes is open. Absent: nobody has. */
  acknowledged: acknowledged.extend({ at: storedTimestamp, by: z.string() }).exactOptional(),
  /** Recipients who want no more mails. Absent: none. */
  left: z.array(leftRecipient).exactOptional(),
  /** What its receivers had disabled, until a person enables it again. Absent: nothing. */
  disabled: z.array(disabledAction).exactOptional(),
});
export type TaskDocument = z.infer<typeof taskDocument>;

/** Apart by more than any time in milliseconds, and few enough to stay a safe integer. */
const attentionStep = 1e14;

/** Sorts tasks: health that is not `ok` first, then flapping, then what turned true last. */
export function attentionOf(
  { health: now, condition: found }: { readonly health: string; readonly condition: string },
  turnedTrueMs: number,
): number {
  return (now === 'ok' ? 0 : 2 * attentionStep) + (found === 'flapping' ? attentionStep : 0) + turnedTrueMs;
}

/** When the condition of a task became true, by its attention; 0: it is not true. */
export function turnedTrueMsOf({ attention }: Pick<TaskDocument, 'attention'>): number {
  return attention % attentionStep;
}

export const tasksView: ViewDefinition<TaskDocument> = {
  isRemembered: true,
  name: 'tasks',
  fields: [
    'organizationId',
    'status',
    'condition',
    'health',
    'name',
    'url',
    'tags',
    'externalKey',
    'nextRunAt',
    'createdAt',
    'attention',
  ],
  indexes: [
    ['organizationId', 'createdAt'],
    ['organizationId', 'status', 'createdAt'],
    ['organizationId', 'condition', 'createdAt'],
    ['organizationId', 'health', 'createdAt'],
    ['organizationId', 'attention'],
    ['organizationId', 'name'],
    ['organizationId', 'nextRunAt'],
    ['organizationId', 'externalKey', 'createdAt'],
    ['organizationId', 'tags', 'createdAt'],
    ['organizationId', 'tags', 'condition', 'createdAt'],
    ['organizationId', 'tags', 'name'],
    ['organizationId', 'tags', 'nextRunAt'],
    ['organizationId', 'tags', 'attention'],
  ],
  lists: ['tags'],
  totals: ['organizationId', 'status', 'condition', 'health'],
  searched: ['name', 'url'],
};
