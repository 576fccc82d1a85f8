/** The operations on the actions of a task, as the contract has them. */
import { z } from 'zod';
import { actionInput, notificationKind } from '#contracts/action';
import { idSchema } from '#contracts/common';
import { messagePreview } from '#contracts/message-preview';
import { pageParameters } from '#http/parameters';
import { route } from '#http/route';
import { deliveryAnswer } from './deliveries.routes.js';
import { actionAnswer } from './task-answer.js';

const tag = 'Actions';
/** A day is enough for a receiver that is changed by hand. */
const defaultOverlapSeconds = 86_400;
export const secretRotation = z.strictObject({
  overlapSeconds: z
    .int()
    .min(0)
    .max(604_800)
    .default(defaultOverlapSeconds)
    .describe('For so long deliveries are signed with the old one too.'),
});

const ids = { id: { prefix: 'ntf', of: 'notification' } } as const;
const actionIds = { ...ids, actionId: { prefix: 'act', of: 'action' } } as const;
const etag = { ETag: 'The revision of the task, for If-Match.' };

/** Of the answer, not settable: passed over in requests. Where the whole action is sent, it is checked for its form first. */
const ignoredFields = ['id'] as const;

const example = { type: 'email', config: { to: 'me@example.com', subject: 'The kettle costs {{ value }}' } };

export const listActions = route({
  method: 'GET',
  path: '/api/notifications/{id}/actions',
  operationId: 'listActions',
  summary: 'List the actions of a notification task, in the order of the task',
  tag,
  access: 'read',
  ids,
  query: z.strictObject(pageParameters),
  answers: [{ status: 200, description: 'Actions.', envelope: 'list', schema: actionAnswer }],
});

export const createAction = route({
  method: 'POST',
  path: '/api/notifications/{id}/actions',
  operationId: 'createAction',
  summary: 'Add an action to a notification task',
  description:
    'A change of the task: it gets a new revision. A webhook secret that the service makes is in clear in this answer only.',
  tag,
  access: 'write',
  answersSecret: true,
  ids,
  body: actionInput,
  bodyExample: example,
  answers: [
    {
      status: 201,
      description: 'The action as it was stored.',
      envelope: 'data',
      schema: actionAnswer,
      headers: { ...etag, Location: 'Where the action is.' },
    },
  ],
});

export const getAction = route({
  method: 'GET',
  path: '/api/notifications/{id}/actions/{actionId}',
  operationId: 'getAction',
  summary: 'Get an action of a notification task',
  tag,
  access: 'read',
  ids: actionIds,
  answers: [{ status: 200, description: 'The action.', envelope: 'data', schema: actionAnswer, headers: etag }],
});

const changed = {
  status: 200,
  description: 'The action as it is now.',
  envelope: 'data',
  schema: actionAnswer,
  headers: etag,
} as const;

export const replaceAction = route({
  method: 'PUT',
  path: '/api/notifications/{id}/actions/{actionId}',
  operationId: 'replaceAction',
  summary: 'Replace all settable fields of an action',
  description:
    'Fields left out get their defaults; a secret that comes back as ******** is kept. An action whose type changes keeps nothing of its old config.',
  tag,
  access: 'write',
  ids: actionIds,
  body: actionInput,
  bodyExample: example,
  conditional: true,
  answers: [changed],
});

export const patchAction = route({
  method: 'PATCH',
  path: '/api/notifications/{id}/actions/{actionId}',
  operationId: 'patchAction',
  summary: 'Change some fields of an action',
  description: 'A JSON merge patch (RFC 7396): null takes a field back to its default, a list is replaced as a whole.',
  tag,
  access: 'write',
  ids: actionIds,
  body: z.record(z.string(), z.json()).meta({ patchOf: actionInput }),
  ignoredFields,
  bodyExample: { enabled: false },
  mergePatch: true,
  conditional: true,
  answers: [changed],
});

export const deleteAction = route({
  method: 'DELETE',
  path: '/api/notifications/{id}/actions/{actionId}',
  operationId: 'deleteAction',
  summary: 'Remove an action from a notification task',
  description: 'Deliveries that were decided before are still made.',
  tag,
  access: 'write',
  ids: actionIds,
  conditional: true,
  answers: [
    {
      status: 200,
      description: 'It is removed.',
      envelope: 'data',
      schema: z.object({
        id: idSchema('act').describe('Of what is gone.'),
        deleted: z.literal(true).describe('It is gone.'),
      }),
    },
  ],
});

export const testAction = route({
  method: 'POST',
  path: '/api/notifications/{id}/actions/{actionId}/test',
  operationId: 'testAction',
  summary: 'Send a marked test message by an action',
  description:
    'A delivery like any other, of the type notification.test: it says what the last execution found, or that there was none yet. Waits for its first attempt to end, a disabled action is tested too, and after five minutes it is given up.',
  tag,
  access: 'write',
  ids: actionIds,
  answers: [
    {
      status: 200,
      description: 'The delivery: finished, retrying, or as far as it came in a short time.',
      envelope: 'data',
      schema: deliveryAnswer,
    },
  ],
});

export const previewAction = route({
  method: 'POST',
  path: '/api/notifications/{id}/actions/{actionId}/preview',
  operationId: 'previewAction',
  summary: 'Show a message of an action as it would be sent',
  description:
    'Nothing is sent. With the values of the execution that is named, else of the last one; a digest tells of it twice, as triggered and as recovered. Secrets and signatures are masked.',
  tag,
  access: 'write',
  ids: actionIds,
  body: z.strictObject({
    kind: z
      .enum([...notificationKind.options, 'digest'])
      .default('triggered')
      .describe('What the message would tell; `digest`: several gathered into one.'),
    executionId: idSchema('exe').optional().describe('A run of this task.'),
  }),
  emptyBody: {},
  bodyExample: { kind: 'triggered' },
  answers: [{ status: 200, description: 'The message.', envelope: 'data', schema: messagePreview }],
});

export const rotateActionSecret = route({
  method: 'POST',
  path: '/api/notifications/{id}/actions/{actionId}/rotate-secret',
  operationId: 'rotateActionSecret',
  summary: 'Make a new secret for a webhook',
  description:
    'The new secret is in clear in this answer only. For the time of the overlap deliveries are signed with both, the new one first; 0 ends the old one at once.',
  tag,
  access: 'write',
  answersSecret: true,
  ids: actionIds,
  body: secretRotation,
  emptyBody: {},
  bodyExample: { overlapSeconds: 3_600 },
  answers: [changed],
});
