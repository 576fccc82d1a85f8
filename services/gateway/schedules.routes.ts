/** The operations on schedules, as the contract has them. */
import { z } from 'zod';
import { idSchema, storedTimestamp } from '#contracts/common';
import { schedule } from '#contracts/schedule';
import { pageParameters, wholeNumber } from '#http/parameters';
import { route } from '#http/route';

const tag = 'Schedules';
const ids = { id: { prefix: 'ntf', of: 'notification' } } as const;
const etag = { ETag: 'The revision of the task, for If-Match.' };
const example = { type: 'cron', cron: '0 8 * * mon-fri', timezone: 'Europe/Berlin' };

const preview = z
  .object({ runs: z.array(storedTimestamp).describe('When it will run, soonest first.') })
  .meta({ id: 'SchedulePreview' });
const count = wholeNumber(1, 100).default(10);

export const getSchedule = route({
  method: 'GET',
  path: '/api/notifications/{id}/schedule',
  operationId: 'getSchedule',
  summary: 'Get the schedule of a notification task',
  tag,
  access: 'read',
  ids,
  answers: [{ status: 200, description: 'The schedule.', envelope: 'data', schema: schedule, headers: etag }],
});

export const replaceSchedule = route({
  method: 'PUT',
  path: '/api/notifications/{id}/schedule',
  operationId: 'replaceSchedule',
  summary: 'Replace the schedule of a notification task',
  description: 'A change of the task: it gets a new revision.',
  tag,
  access: 'write',
  ids,
  body: schedule,
  bodyExample: example,
  conditional: true,
  answers: [
    { status: 200, description: 'The schedule as it was stored.', envelope: 'data', schema: schedule, headers: etag },
  ],
});

export const previewSchedule = route({
  method: 'GET',
  path: '/api/notifications/{id}/schedule/preview',
  operationId: 'previewSchedule',
  summary: 'When a notification task will run next',
  description: 'Of a task that is paused: when it would run were it resumed now.',
  tag,
  access: 'read',
  ids,
  query: z.strictObject({ count }),
  answers: [{ status: 200, description: 'Times.', envelope: 'data', schema: preview }],
});

export const previewUnsavedSchedule = route({
  method: 'POST',
  path: '/api/schedules/preview',
  operationId: 'previewUnsavedSchedule',
  summary: 'When a schedule that is not saved would run',
  description: 'Without jitter, which the task decides too.',
  tag,
  access: 'read',
  query: z.strictObject({ count }),
  body: schedule,
  bodyExample: example,
  answers: [{ status: 200, description: 'Times.', envelope: 'data', schema: preview }],
});

export const listSchedules = route({
  method: 'GET',
  path: '/api/schedules',
  operationId: 'listSchedules',
  summary: 'List the next run of each notification task, soonest first',
  tag,
  access: 'read',
  query: z.strictObject(pageParameters),
  answers: [
    {
      status: 200,
      description: 'Tasks that have a next run.',
      envelope: 'list',
      schema: z.object({
        notificationId: idSchema('ntf').describe('The task.'),
        name: z.string().describe('What people call it.'),
        runAt: storedTimestamp.describe('When it runs next.'),
        schedule: schedule.describe('By which it runs.'),
      }),
    },
  ],
});
