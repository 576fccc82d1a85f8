/** What became of a task: its changes one by one, and the task as it was at a moment. */
import { z } from 'zod';
import { AppError } from '#runtime/errors';
import { idSchema, storedTimestamp } from './common.js';

/** One change of a task, as `GET …/history` shows it (`task.history`). */
export const historyEntry = z
  .object({
    revision: z.int().describe('The revision that this change made.'),
    type: z.string().describe('What happened.'),
    at: storedTimestamp.describe('When.'),
    actor: z.string().describe('By whom: `key:<id>`, `user:<id>` or a part of the service.'),
    requestId: z.string().describe('The request that it came with.'),
    data: z.record(z.string(), z.json()).describe('What is on record of it, secrets masked.'),
    changes: z
      .array(
        z.object({
          path: z.string().describe('Such as `policy.cooldownSeconds`.'),
          // A service of the version before leaves out the side that has no value.
          from: z.json().default(null).describe('null also where it was not there.'),
          to: z.json().default(null).describe('null also where it is not there any more.'),
        }),
      )
      .describe('What it changed, by path.'),
    /** Long texts in it were cut, since the answer would have become too large. */
    shortened: z
      .literal(true)
      .optional()
      .describe('Long texts in it were cut, since the answer would have become too large.'),
  })
  .meta({ id: 'HistoryEntry' });
export type HistoryEntry = z.infer<typeof historyEntry>;

/** Of the changes below revision `before` (null: of all), `offset` are passed over and at most `limit` answered, newest first. */
export const historyQuery = z.object({
  taskId: idSchema('ntf'),
  before: z.int().min(0).nullable(),
  offset: z.int().min(0),
  limit: z.int().min(1),
});
export type HistoryQuery = z.infer<typeof historyQuery>;

/** `total`: of all changes of the task. */
export const taskHistory = z.object({ entries: z.array(historyEntry), total: z.int() });
export type TaskHistory = z.infer<typeof taskHistory>;

/** A moment in the life of a task: the end of a revision, or a time. */
export const taskMoment = z.union([z.object({ revision: z.int() }), z.object({ at: storedTimestamp })]);
export type TaskMoment = z.infer<typeof taskMoment>;

/** For who asks for a moment at which the task was not there. */
export function taskNotThere(moment: TaskMoment): AppError {
  const [reason, field, message] =
    'revision' in moment
      ? ['no_such_revision', 'revision', `There is no revision ${moment.revision} of this notification.`]
      : ['not_there_then', 'at', `The notification was not there at ${moment.at}.`];
  return new AppError('NOT_FOUND', reason, message, { details: [{ field, rule: 'unknown', message }] });
}

/** Asks for a task as it was (`task.at`); the answer is the document that the view held then. */
export const pastTaskQuery = z.object({ taskId: idSchema('ntf'), moment: taskMoment });
