/** What became of a candidate that is judged beside a task's own settings: the view `shadows`, one document per such task. */
import { z } from 'zod';
import { idSchema, storedTimestamp } from './common.js';
import { decision } from './policy.js';
import { runError, type RunEvent } from './run.js';
import type { ViewDefinition } from '#read-store/read-store';

/** The newest so many are kept. */
export const mostDifferences = 100;

export const shadowDifference = z.object({
  executionId: idSchema('exe').describe('The run.'),
  at: storedTimestamp.describe('When it ended.'),
  live: z
    .object({
      outcome: z.boolean().nullable().describe('What it answered.'),
      decision: decision.describe('What follows from it.'),
    })
    .describe('What the task found and decided.'),
  shadow: z
    .object({
      outcome: z.boolean().nullable().describe('What it answered.'),
      decision: decision.describe('What follows from it.'),
      error: runError.nullable().describe('Why it failed.'),
    })
    .describe('What the candidate found and would have decided.'),
});

export const shadowFigures = z.object({
  runs: z.int().describe('Runs that were judged.'),
  same: z.int().describe('Both would notify, or neither.'),
  onlyLive: z.int().describe('The task notified, the candidate would not have.'),
  onlyShadow: z.int().describe('The candidate would have notified, the task did not.'),
  failed: z.int().describe('The code of the candidate failed.'),
  differences: z.array(shadowDifference).describe(`The newest ${mostDifferences}, newest first.`),
});

export type ShadowFigures = z.infer<typeof shadowFigures>;

/** Before the first run. */
export const noShadowFigures: ShadowFigures = {
  runs: 0,
  same: 0,
  onlyLive: 0,
  onlyShadow: 0,
  failed: 0,
  differences: [],
};

/** What was counted of one day, UTC: part of the figures until the day is folded, and then what the fold says takes its place. */
const shadowDay = shadowFigures.omit({ differences: true }).extend({ day: z.string() });
export type ShadowDay = z.infer<typeof shadowDay>;

export const shadowDocument = shadowFigures.extend({
  id: idSchema('ntf'),
  organizationId: idSchema('org'),
  startedAt: storedTimestamp,
  days: z.array(shadowDay),
});
export type ShadowDocument = z.infer<typeof shadowDocument>;

export const shadowsView: ViewDefinition<ShadowDocument> = {
  name: 'shadows',
  fields: ['startedAt'],
  indexes: [],
  readByFew: true,
};

export const noShadowCounts: Omit<ShadowDay, 'day'> = { runs: 0, same: 0, onlyLive: 0, onlyShadow: 0, failed: 0 };

/** What one run counts for its candidate. */
export function shadowCounts({
  decision,
  shadow,
}: Pick<Extract<RunEvent, { readonly type: 'run.recorded' }>['data'], 'decision' | 'shadow'>): Omit<ShadowDay, 'day'> {
  if (shadow === undefined) return noShadowCounts;
  const counted = { ...noShadowCounts, runs: 1 };
  if (shadow.error !== null) return { ...counted, failed: 1 };
  if (shadow.decision.notify === decision.notify) return { ...counted, same: 1 };
  return decision.notify ? { ...counted, onlyLive: 1 } : { ...counted, onlyShadow: 1 };
}
