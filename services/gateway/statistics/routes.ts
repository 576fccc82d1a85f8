/** The operations on statistics and values. */
import { z } from 'zod';
import { storedTimestamp } from '#contracts/common';
import { condition, health } from '#contracts/policy';
import { figuresView } from '#contracts/retention';
import { timeParameter, wholeNumber } from '#http/parameters';
import { route } from '#http/route';
import { mostBuckets } from './buckets.js';

const task = { id: { prefix: 'ntf', of: 'notification' } } as const;
export const mostPoints = 2_000;

const percentiles = z
  .object({
    p50: z.number().nullable().describe('Half of the runs took no longer; null: there was none.'),
    p95: z.number().nullable().describe('Of a hundred runs 95 took no longer.'),
    max: z.number().nullable().describe('The longest.'),
  })
  .meta({ id: 'Percentiles' });

const bucket = z
  .object({
    from: storedTimestamp.describe('Where it begins.'),
    to: storedTimestamp.describe('Where it ends.'),
    runs: z.int().describe('Runs that ended: `succeeded` and `failed`.'),
    succeeded: z.int().describe('Runs whose code answered.'),
    failed: z.int().describe('Runs that failed, time-outs among them.'),
    skipped: z.int().describe('Slots that were passed over.'),
    missed: z.int().describe('Slots that nobody fired in time.'),
    trueShare: z
      .number()
      .nullable()
      .describe('Of the time in which the condition was known, the part in which it was true; null: it was not known.'),
    transitions: z.int().describe('Runs that changed condition or health.'),
    notified: z.int().describe('Runs that made messages.'),
    fetchMs: percentiles.describe('Until the page was there.'),
    evaluateMs: percentiles.describe('Until the code was done.'),
    folded: z.boolean().describe('Whether a part of it is left as figures alone.'),
  })
  .meta({ id: 'StatisticsBucket' });

const statistics = z.object({
  buckets: z.array(bucket).describe('Without a gap, the oldest first.'),
  summary: bucket.describe('The same over all of it.'),
});

const range = {
  from: timeParameter.optional(),
  to: timeParameter.optional(),
};

const statisticsQuery = z.strictObject({ ...range, bucket: z.enum(['hour', 'day']).default('hour') });
export type StatisticsQuery = z.output<typeof statisticsQuery>;

const described = `The last 24 hours by hour where nothing is asked for; at most ${mostBuckets} buckets (400 \`too_many_buckets\`). Buckets are whole hours and days of UTC. Percentiles are within 5 %. Of a folded day hours are one bucket, as long as the day.`;

export const getTaskStatistics = route({
  method: 'GET',
  path: '/api/notifications/{id}/stats',
  operationId: 'getNotificationStatistics',
  summary: 'Statistics of a notification task',
  description: described,
  tag: 'Statistics',
  access: 'read',
  reads: () => [figuresView.name],
  ids: task,
  query: statisticsQuery,
  answers: [
    {
      status: 200,
      description: 'The statistics.',
      envelope: 'data',
      schema: statistics.meta({ id: 'NotificationStatistics' }),
    },
  ],
});

const counts = (names: readonly string[], of: string) =>
  z.object(Object.fromEntries(names.map((name) => [name, z.int().describe(`Tasks whose ${of} is \`${name}\`.`)])));

export const getStatistics = route({
  method: 'GET',
  path: '/api/stats',
  operationId: 'getStatistics',
  summary: 'Statistics of all notification tasks',
  description: `${described} So are those of a day that is folded for any task. \`trueShare\` is over the hours in which tasks ran.`,
  tag: 'Statistics',
  access: 'read',
  reads: () => [figuresView.name],
  query: statisticsQuery,
  answers: [
    {
      status: 200,
      description: 'The statistics.',
      envelope: 'data',
      schema: statistics
        .extend({
          tasks: z
            .object({
              total: z.int().describe('Tasks that there are now.'),
              paused: z.int().describe('Tasks that are paused.'),
              byCondition: counts(condition.options, 'condition').describe('By their condition.'),
              byHealth: counts(health.options, 'health').describe('By their health.'),
            })
            .describe('As they are now.'),
        })
        .meta({ id: 'OrganizationStatistics' }),
    },
  ],
});

const point = z
  .object({
    at: storedTimestamp.describe('When it was found.'),
    value: z
      .union([z.number().describe('A number.'), z.string().describe('A text.')])
      .describe('What was reported: of several the last.'),
    min: z.number().optional().describe('Of several values that this point stands for.'),
    max: z.number().optional().describe('Of several values that this point stands for.'),
    executionId: z.string().optional().describe('The run, where it is still there.'),
  })
  .meta({ id: 'ValuePoint' });

export const getTaskValues = route({
  method: 'GET',
  path: '/api/notifications/{id}/values',
  operationId: 'getNotificationValues',
  summary: 'Values that a notification task reported',
  description:
    'Of numbers so many points that no extreme is lost: where a range has more than `limit` runs, of each hour the first, the last, the least and the greatest, and of more than `limit` of those one point for several with `min` and `max`. Of texts the changes alone, cut to 256 characters. The last 24 hours where no range is given.',
  tag: 'Statistics',
  access: 'read',
  reads: () => [figuresView.name],
  ids: task,
  query: z.strictObject({
    ...range,
    name: z.string().min(1).max(200).default('value').meta({ description: 'As the code reports it.' }),
    limit: wholeNumber(1, mostPoints).default(500).meta({ description: 'So many points at most.' }),
  }),
  answers: [
    {
      status: 200,
      description: 'The values.',
      envelope: 'data',
      schema: z.object({ points: z.array(point).describe('Oldest first.') }).meta({ id: 'Values' }),
    },
  ],
});
