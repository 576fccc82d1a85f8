/**
 * Other code, or another policy, on the recorded runs of a task (`run.backtest`): each run that left a page is evaluated and
 * decided again, in their order, from the alert state that the task had before the first of them. Nothing is recorded.
 */
import { wholePolicy } from '#contracts/policy';
import { blocks, runStream, type AlertState, type Backtest, type BacktestQuery } from '#contracts/run';
import { taskFold, taskStream } from '#contracts/task';
import { revisionAt } from '#eventing/events-by-time';
import type { EventStore } from '#event-store/event-store';
import { foldStream } from '#eventing/fold-stream';
import { notFound } from '#runtime/errors';
import type { Snapshots } from '#snapshots/snapshots';
import { decideAlert, initialAlert } from '../domain/alert/alert.js';
import type { Evaluated } from '../page-evaluation.js';
import type { RunDeps } from '../run.js';
import { JudgedPages, type JudgedPage } from './backtest-summary.js';
import { dependenciesOver } from './dependencies-over.js';
import { Judge, mostAhead } from './judge.js';
import { recordedRunOf, runBefore, type RecordedRun } from './recorded-runs.js';

/** What one request may take, below the time that its caller waits. */
const longestMs = 25_000;
/** More than an installation keeps of a task. */
const allKept = 10_000;
const longestValue = 200;

/** When the oldest of the newest `limit` pages of that time was taken; null: none is kept. */
async function oldestPageMs(snapshots: Snapshots, { taskId, to, limit }: BacktestQuery): Promise<number | null> {
  const kept = await snapshots.list(taskId, allKept);
  const oldest = kept
    .filter(({ takenAt }) => to === null || takenAt <= to)
    .slice(0, limit)
    .at(-1);
  return oldest === undefined ? null : Date.parse(oldest.takenAt);
}

/** Dry runs change nothing, then as now. */
async function* runsFrom(
  eventStore: Pick<EventStore, 'read'>,
  { taskId, to }: BacktestQuery,
  revision: number,
): AsyncGenerator<RecordedRun> {
  for await (const recorded of eventStore.read(runStream(taskId), revision)) {
    if (to !== null && recorded.metadata.at > to) return;
    const run = recordedRunOf(recorded);
    if (run !== null && !run.result.dryRun) yield run;
  }
}

/** Each run with those that come next, itself the first: a history is long, so that only these are in memory. */
async function* withUpcoming(runs: AsyncGenerator<RecordedRun>): AsyncGenerator<readonly RecordedRun[]> {
  const upcoming: RecordedRun[] = [];
  for await (const run of runs) {
    upcoming.push(run);
    if (upcoming.length < mostAhead) continue;
    yield upcoming;
    upcoming.shift();
  }
  for (; upcoming.length > 0; upcoming.shift()) yield upcoming;
}

/** The candidate as if it had been the task's all the time: what others found with the old code does not bind it. */
function beginning(alert: AlertState, hasNewCode: boolean): AlertState {
  return { ...alert, codeRevision: hasNewCode ? -1 : 0 };
}

function judgedPage(
  { result, decision }: RecordedRun,
  snapshotId: string,
  { outcome, values, error }: Evaluated,
  decided: JudgedPage['decision'],
): JudgedPage {
  const value = values['value'] ?? null;
  return {
    snapshotId,
    executionId: result.runId,
    at: result.finishedAt,
    runs: 1,
    outcome,
    value: JSON.stringify(value).length > longestValue ? null : (value as JudgedPage['value']),
    error,
    decision: decided,
    recorded: { outcome: result.outcome, decision },
  };
}

/** Rejects with 404 where there is no such task of the organisation. */
export async function backtestTask(deps: RunDeps, query: BacktestQuery, organizationId: string): Promise<Backtest> {
  const { eventStore, snapshots, clock } = deps;
  const { taskId, candidate, from } = query;
  const { state: task, recorded } = await foldStream(eventStore, taskFold, taskStream(taskId));
  if (task.status === 'none' || task.status === 'archived') throw notFound('notification');
  if (recorded.at(-1)?.metadata.organizationId !== organizationId) throw notFound('notification');
  const pages = new JudgedPages();
  const oldestMs = await oldestPageMs(snapshots, query);
  if (oldestMs === null) return pages.answer(true);
  const fromMs = Math.max(oldestMs, from === null ? 0 : Date.parse(from));
  const first = await revisionAt(eventStore, runStream(taskId), fromMs);
  const before = (await runBefore(eventStore, taskId, first))?.run.alert ?? initialAlert;
  const judge = new Judge(deps, candidate, { taskId, organizationId });
  const dependencies = await dependenciesOver(eventStore, candidate.policy.dependsOn, { organizationId, fromMs });
  const context = { policy: wholePolicy(candidate.policy), paused: false, codeRevision: 0, actions: task.spec.actions };
  const endsAtMs = clock.now() + longestMs;
  let alert = beginning(before, candidate.evaluationFunction !== task.spec.evaluationFunction);
  try {
    for await (const upcoming of withUpcoming(runsFrom(eventStore, query, first))) {
      if (clock.now() > endsAtMs) return pages.answer(false);
      const [run] = upcoming;
      if (run === undefined) continue;
      const { result } = run;
      const found = await judge.find(upcoming, alert);
      // A run that left no page, or whose page is gone, is taken as it was recorded.
      const seen = found ?? { ...result, state: null, endedFromOutside: false };
      const { outcome, values, state, endedFromOutside } = seen;
      const finding = {
        ...result,
        outcome,
        values,
        state,
        endedFromOutside,
        isOwnNetwork: result.error?.reason === 'own_network',
        isBlocked: blocks(seen.error),
      };
      const isDependencyDown = await dependencies.isDownAt(result.finishedAt);
      const decided = decideAlert(alert, finding, { ...context, isDependencyDown });
      ({ alert } = decided);
      if (found !== null && result.snapshotId !== null) {
        pages.add(judgedPage(run, result.snapshotId, found, decided.decision));
      }
    }
    return pages.answer(true);
  } finally {
    await dependencies.close();
  }
}
