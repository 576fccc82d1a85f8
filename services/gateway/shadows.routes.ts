/** The operations on a candidate that is judged beside a task's own code and policy. */
import { z } from 'zod';
import { idSchema, storedTimestamp } from '#contracts/common';
import { policy } from '#contracts/policy';
import { shadowFigures, shadowsView } from '#contracts/shadow';
import { taskInput } from '#contracts/task';
import { route } from '#http/route';
import { taskAnswer } from './task-answer.js';

const ids = { id: { prefix: 'ntf', of: 'notification' } } as const;
const tag = 'Notifications';

const candidate = {
  evaluationFunction: taskInput.shape.evaluationFunction.optional(),
  policy: policy.optional().describe('The other policy; the one of the task where none is given.'),
};

export const shadowAnswer = z
  .object({
    ...candidate,
    since: storedTimestamp.describe('When it was put beside the task.'),
    ...shadowFigures.shape,
  })
  .meta({ id: 'Shadow' });

const answer = {
  status: 200,
  description: 'The candidate and what it did so far.',
  envelope: 'data',
  schema: shadowAnswer,
} as const;

export const putShadow = route({
  method: 'PUT',
  path: '/api/notifications/{id}/shadow',
  operationId: 'putShadow',
  summary: 'Judge other code, or another policy, beside the ones of a notification task',
  description:
    'From now on it is evaluated on each page after the code of the task and decides for itself, from the state that the task is in; nothing is sent. What is not given is as the task has it. Another candidate in its place begins anew; the same one again goes on. Runs on pages that did not change are evaluated too while it is there.',
  tag,
  access: 'write',
  ids,
  body: z.strictObject(candidate),
  bodyExample: { policy: { confirmations: 3 } },
  answers: [answer],
});

export const getShadow = route({
  reads: () => [shadowsView.name],
  method: 'GET',
  path: '/api/notifications/{id}/shadow',
  operationId: 'getShadow',
  summary: 'How a candidate compares with the live settings so far',
  description: 'Compared is whether each would notify. A candidate whose code fails counts as `failed` alone.',
  tag,
  access: 'read',
  ids,
  answers: [answer],
});

export const deleteShadow = route({
  method: 'DELETE',
  path: '/api/notifications/{id}/shadow',
  operationId: 'deleteShadow',
  summary: 'Take the candidate away',
  tag,
  access: 'write',
  ids,
  answers: [
    {
      status: 200,
      description: 'It is gone.',
      envelope: 'data',
      schema: z.object({
        id: idSchema('ntf').describe('Of what is gone.'),
        deleted: z.literal(true).describe('It is gone.'),
      }),
    },
  ],
});

export const promoteShadow = route({
  method: 'POST',
  path: '/api/notifications/{id}/shadow/promote',
  operationId: 'promoteShadow',
  summary: 'Make the settings of the candidate those of the task, as a new revision',
  tag,
  access: 'write',
  ids,
  answers: [
    {
      status: 200,
      description: 'The task as it is now.',
      envelope: 'data',
      schema: taskAnswer,
      headers: { ETag: 'The revision.' },
    },
  ],
});
