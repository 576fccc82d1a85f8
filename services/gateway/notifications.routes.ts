/** The operations on notification tasks, as the contract has them. */
import { z } from 'zod';
import { idSchema, plainLine } from '#contracts/common';
import { condition, health } from '#contracts/policy';
import { recentRuns, recentRunsView } from '#contracts/recent-runs';
import { tagForm, taskInput, taskStatus } from '#contracts/task';
import { historyEntry } from '#contracts/task-history';
import { afterParameter, pageParameters, timeParameter, wholeNumber } from '#http/parameters';
import { route } from '#http/route';
import { readOnlyFields, taskAnswer } from './task-answer.js';

const tag = 'Notifications';
const ids = { id: { prefix: 'ntf', of: 'notification' } } as const;
const etag = { ETag: 'The revision, for If-Match.' };

const example = {
  name: 'Price of the red kettle',
  url: 'https://shop.example.com/kettle',
  evaluationFunction:
    "const price = page.number(document.querySelector('.price'));\npage.report('value', price);\nreturn price < 40;",
  actions: [{ type: 'email', config: { to: 'me@example.com', subject: 'The kettle costs {{ value }}' } }],
};

export const createNotification = route({
  method: 'POST',
  path: '/api/notifications',
  operationId: 'createNotification',
  summary: 'Create a notification task',
  description:
    'The code is parsed before anything is saved: a syntax error is answered with its line and column. A webhook secret that the service makes is in clear in this answer only. Read-only fields are passed over, so that what GET gave can be made again.',
  tag,
  access: 'write',
  answersSecret: true,
  body: taskInput,
  ignoredFields: readOnlyFields,
  query: z.strictObject({
    wait: wholeNumber(1, 60)
      .optional()
      .meta({ description: 'Seconds to wait for the first run, where one is due by then; `lastExecution` shows it.' }),
  }),
  bodyExample: example,
  answers: [
    {
      status: 201,
      description: 'The task as it was stored.',
      envelope: 'data',
      schema: taskAnswer,
      headers: { ...etag, Location: 'Where the task is.' },
    },
  ],
});

const listedTask = taskAnswer.extend({ recent: recentRuns.optional().describe('Where `include=recent` asks for it.') });

const sorts = ['-createdAt', 'createdAt', 'name', '-name', 'nextRunAt', 'attention'] as const;

/** What narrows a list of tasks. */
export const taskFilters = {
  externalKey: z
    .string()
    .min(1)
    .max(200)
    .regex(plainLine.noControls, { error: 'must be one line without control characters' })
    .optional()
    .meta({ description: 'Exactly.', example: 'kettle' }),
  status: taskStatus.optional().describe('Active or paused.'),
  condition: condition.optional().describe('What was found.'),
  health: health.optional().describe('Whether the page can be checked; `blocked`: this instance refuses.'),
  tag: z
    .string()
    .min(1)
    .max(50)
    .regex(tagForm, { error: 'must be of A-Z a-z 0-9 . _ : -' })
    .optional()
    .meta({ description: 'One of its tags.', example: 'shop' }),
  q: z
    .string()
    .min(1)
    .max(200)
    .regex(plainLine.noControls, { error: 'must be one line without control characters' })
    .optional()
    .meta({ description: 'Text that name or url hold, whatever its case.', example: 'kettle' }),
};

export const listNotifications = route({
  method: 'GET',
  path: '/api/notifications',
  operationId: 'listNotifications',
  summary: 'List notification tasks',
  tag,
  access: 'read',
  reads: ({ include }) => (include === undefined ? [] : [recentRunsView.name]),
  query: z.strictObject({
    ...pageParameters,
    ...taskFilters,
    sort: z
      .enum(sorts)
      .default('-createdAt')
      .meta({ description: 'attention: health that is not ok first, then flapping, then what turned true last.' }),
    include: z.literal('recent').optional().meta({ description: 'recent: the last runs and numbers of each task.' }),
  }),
  answers: [{ status: 200, description: 'One page of tasks.', envelope: 'list', schema: listedTask }],
});

export const getNotification = route({
  method: 'GET',
  path: '/api/notifications/{id}',
  operationId: 'getNotification',
  summary: 'Get a notification task',
  description:
    'With `at` or `revision` as it was: its settings, condition, health, last execution and next run of then. A revision lasts until the next one. 404 not_there_then or no_such_revision where there is none.',
  tag,
  access: 'read',
  ids,
  query: z.strictObject({
    at: timeParameter.optional(),
    revision: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional(),
  }),
  answers: [{ status: 200, description: 'The task.', envelope: 'data', schema: taskAnswer, headers: etag }],
});

export const replaceNotification = route({
  method: 'PUT',
  path: '/api/notifications/{id}',
  operationId: 'replaceNotification',
  summary: 'Replace all settable fields of a notification task',
  description:
    'Fields left out get their defaults. Read-only fields are passed over, so that what GET gave can be edited and sent back; a secret that comes back as ******** is kept.',
  tag,
  access: 'write',
  ids,
  // Against the task that is there: what it has already stands.
  body: z.record(z.string(), z.json()).meta({ checkedLater: taskInput }),
  ignoredFields: readOnlyFields,
  bodyExample: example,
  conditional: true,
  answers: [
    { status: 200, description: 'The task as it is now.', envelope: 'data', schema: taskAnswer, headers: etag },
  ],
});

export const patchNotification = route({
  method: 'PATCH',
  path: '/api/notifications/{id}',
  operationId: 'patchNotification',
  summary: 'Change some fields of a notification task',
  description: 'A JSON merge patch (RFC 7396): null takes a field back to its default, a list is replaced as a whole.',
  tag,
  access: 'write',
  ids,
  body: z.record(z.string(), z.json()).meta({ patchOf: taskInput }),
  ignoredFields: readOnlyFields,
  bodyExample: { status: 'paused' },
  mergePatch: true,
  conditional: true,
  answers: [
    { status: 200, description: 'The task as it is now.', envelope: 'data', schema: taskAnswer, headers: etag },
  ],
});

export const deleteNotification = route({
  method: 'DELETE',
  path: '/api/notifications/{id}',
  operationId: 'deleteNotification',
  summary: 'Archive a notification task, or purge it',
  description:
    'From then on it is 404 everywhere; its history stays in the audit, and it can be restored. With `purge=true` (scope `admin`, also of one that is archived) its contents are gone for good: settings, runs, values, pages, messages, deliveries. The audit keeps that it was, and when it was changed by whom. 503 `purge_under_way` where that takes longer than the request: it goes on by itself.',
  tag,
  access: 'write',
  ids,
  conditional: true,
  query: z.strictObject({
    purge: z.enum(['true', 'false']).optional().meta({ description: 'Its contents go for good.' }),
  }),
  answers: [
    {
      status: 200,
      description: 'It is archived, or purged.',
      envelope: 'data',
      schema: z.object({
        id: idSchema('ntf').describe('Of what is gone.'),
        deleted: z.literal(true).describe('It is gone.'),
      }),
    },
  ],
});

const changed = {
  status: 200,
  description: 'The task as it is now.',
  envelope: 'data',
  schema: taskAnswer,
  headers: etag,
} as const;

export const restoreNotification = route({
  method: 'POST',
  path: '/api/notifications/{id}/restore',
  operationId: 'restoreNotification',
  summary: 'Bring an archived notification task back as it was, as a new revision',
  description:
    'A task that is not archived stays as it is. 409 already_exists where another task has its externalKey by now. Its condition is unknown until the next run.',
  tag,
  access: 'write',
  ids,
  answers: [changed],
});

export const rollbackNotification = route({
  method: 'POST',
  path: '/api/notifications/{id}/rollback',
  operationId: 'rollbackNotification',
  summary: 'Set a notification task back to an earlier revision, as a new one',
  description:
    'All settings and the status are as at the end of that revision, secrets included, but for those by which receivers tell that messages are genuine (of webhooks `secret`): an action that is still there keeps them as they are now. An action that was removed comes back under its id. What this instance would refuse now is refused here too.',
  tag,
  access: 'write',
  conditional: true,
  ids,
  body: z.strictObject({ revision: z.int().min(0).describe('The one to go back to.') }),
  bodyExample: { revision: 3 },
  answers: [changed],
});

export const listHistory = route({
  method: 'GET',
  path: '/api/notifications/{id}/history',
  operationId: 'listNotificationHistory',
  summary: 'Every change of a notification task, newest first',
  tag,
  access: 'read',
  ids,
  query: z.strictObject({ ...pageParameters, after: afterParameter }),
  answers: [{ status: 200, description: 'Changes.', envelope: 'list', schema: historyEntry, cursor: true }],
});
