/** The operation that does the same to many tasks. */
import { z } from 'zod';
import { mostTags, tag } from '#contracts/task';
import { route } from '#http/route';
import { taskFilters } from './notifications.routes.js';

export const bulkBody = z.strictObject({
  ids: z.array(z.string().max(100)).min(1).max(500).optional().describe('Of tasks.'),
  filter: z.strictObject(taskFilters).optional().describe('As the list of tasks takes it; an empty one means all.'),
  do: z.enum(['pause', 'resume', 'archive', 'restore', 'execute', 'tag', 'untag']).describe('What is done.'),
  tags: z.array(tag).min(1).max(mostTags).optional().describe('For tag and untag alone.'),
});
export type BulkBody = z.output<typeof bulkBody>;

export const bulkNotifications = route({
  method: 'POST',
  path: '/api/notifications/bulk',
  operationId: 'bulkNotifications',
  summary: 'Do the same to many notification tasks',
  description:
    'Each task on its own: what fails is named, the others are done. Give ids or a filter that matches at most 5,000 tasks; an archived task is found by its id alone. Counted as one request per 20 tasks. execute needs the scope execute, everything else the scope write.',
  tag: 'Notifications',
  access: 'read',
  body: bulkBody,
  bodyExample: { filter: { tag: 'shop' }, do: 'pause' },
  answers: [
    {
      status: 200,
      description: 'What was done, and what could not be.',
      envelope: 'data',
      schema: z.object({
        done: z.array(z.string()).describe('Ids of tasks of which it is done.'),
        failed: z
          .array(
            z.object({
              id: z.string().describe('Of the task.'),
              reason: z.string().describe('A stable word.'),
              message: z.string().describe('For people.'),
            }),
          )
          .describe('Tasks of which it could not be done.'),
      }),
    },
  ],
});
