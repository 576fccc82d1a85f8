/** The view `recent_runs`: what a list draws beside each task. */
import { mostRecentRuns, mostRecentValues, recentRunsView, type RecentRunsDocument } from '#contracts/recent-runs';
import { dayEnd, type FoldEvent } from '#contracts/retention';
import type { RunEvent } from '#contracts/run';
import { decodeEvent } from '#eventing/codec';
import { forgettingPurged } from '#eventing/forget-purged';

const changing: readonly string[] = ['run.recorded', 'task.archived', 'runs.folded'];

/** What a list shows can be opened: a run of a folded day is not there any more. */
function since(document: RecentRunsDocument, time: string): RecentRunsDocument | null {
  const fromMs = Date.parse(time);
  const runs = document.runs.filter(([, atMs]) => atMs >= fromMs);
  const values = document.values.filter(([atMs]) => atMs >= fromMs);
  if (runs.length === document.runs.length && values.length === document.values.length) return document;
  return runs.length === 0 ? null : { ...document, runs, values };
}

export const recentRunsProjection = forgettingPurged<RecentRunsDocument>(
  {
    view: recentRunsView,
    prefixes: ['run-', 'task-', 'stats-'],
    idOf: ({ stream, type }) => (changing.includes(type) ? stream.slice(stream.indexOf('-') + 1) : null),
    reduce(document, recorded) {
      if (recorded.type === 'task.archived') return null;
      const event = decodeEvent<RunEvent | FoldEvent>(recorded);
      if (event.type === 'runs.folded') return document === null ? null : since(document, dayEnd(event.data.day));
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
  },
  null,
);
