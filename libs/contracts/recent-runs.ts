/** The last runs of a task in short, for lists that draw them: the view `recent_runs`, one document per task. */
import { z } from 'zod';
import { idSchema, storedTimestamp } from './common.js';
import { runStatus, type RunStatus } from './run.js';
import type { ViewDefinition } from '#read-store/read-store';

export const mostRecentRuns = 40;
export const mostRecentValues = 24;

/** As answered: oldest first. */
export const recentRuns = z
  .object({
    runs: z
      .array(
        z.object({
          id: idSchema('exe').describe('Of the execution.'),
          at: storedTimestamp.describe('When it ended.'),
          status: runStatus.describe('How it ended.'),
          outcome: z.boolean().nullable().describe('What the code answered.'),
          notified: z.boolean().describe('Whether it made messages.'),
        }),
      )
      .describe('The last ones, oldest first.'),
    values: z
      .array(
        z.object({ at: storedTimestamp.describe('When it was found.'), value: z.number().describe('*The* value.') }),
      )
      .describe('The last numbers, oldest first.'),
  })
  .meta({ id: 'RecentRuns' });
export type RecentRuns = z.infer<typeof recentRuns>;

/** As stored: written at every run, so it is as short as it can be. Times are in milliseconds since 1970. */
export interface RecentRunsDocument {
  readonly organizationId: string;
  readonly runs: readonly (readonly [
    id: string,
    atMs: number,
    status: RunStatus,
    outcome: boolean | null,
    notified: 0 | 1,
  ])[];
  readonly values: readonly (readonly [atMs: number, value: number])[];
}

export const recentRunsView: ViewDefinition<RecentRunsDocument> = {
  name: 'recent_runs',
  fields: [],
  indexes: [],
  isRemembered: true,
  readByFew: true,
};

const timeOf = (epochMs: number): string => new Date(epochMs).toISOString();

/** `newestOnly`: of the last run alone. null: there was none yet. */
export function toRecentRuns(document: RecentRunsDocument | null, newestOnly = false): RecentRuns {
  const { runs = [], values = [] } = document ?? {};
  const last = runs.at(-1);
  const shownRuns = newestOnly ? runs.slice(-1) : runs;
  const shownValues = newestOnly ? values.slice(-1).filter(([atMs]) => atMs === last?.[1]) : values;
  return {
    runs: shownRuns.map(([id, atMs, status, outcome, notified]) => ({
      id,
      at: timeOf(atMs),
      status,
      outcome,
      notified: notified === 1,
    })),
    values: shownValues.map(([atMs, value]) => ({ at: timeOf(atMs), value })),
  };
}
