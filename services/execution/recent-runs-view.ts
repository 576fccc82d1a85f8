/** The view `recent_runs`: what a list draws beside each task. */
import { mostRecentRuns, mostRecentValues, recentRunsView, type RecentRunsDocument } from '#contracts/recent-runs';
import type { RunEvent } from '#contracts/run';
import { decodeEvent } from '#eventing/codec';
import type { Projected } from '#eventing/projected';

export const recentRunsProjection: Projected<RecentRunsDocument> = {
  view: recentRunsView,
  prefixes: ['run-', 'task-'],
  idOf: ({ stream, type }) =>
    type === 'run.recorded' || type === 'task.archived' ? stream.slice(stream.indexOf('-') + 1) : null,
  reduce(document, recorded) {
    if (recorded.type === 'task.archived') return null;
    const event = decodeEvent<RunEvent>(recorded);
    if (event.type !== 'run.recorded') return document;
    const { result, decision } = event.data;
    const { runs = [], values = [] } = document ?? {};
    const atMs = Date.parse(result.finishedAt);
    const run = [result.runId, atMs, result.status, result.outcome, decision.notify ? 1 : 0] as const;
    const { value } = result.values;
    const isNumber = typeof value === 'number' && Number.isFinite(value);
    return {
      organizationId: recorded.metadata.organizationId,
      runs: [...runs, run].slice(-mostRecentRuns),
      values: isNumber ? [...values, [atMs, value] as const].slice(-mostRecentValues) : values,
    };
  },
};
