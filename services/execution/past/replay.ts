/** A recorded run once more, on the page that was kept of it: the same code, state and seed must find the same (`run.replay`). */
import { executionsView, replay, runStream, type Replay, type RunResult } from '#contracts/run';
import { taskFold, taskStream, type TaskSpec } from '#contracts/task';
import type { EventStore } from '#event-store/event-store';
import { revisionAt } from '#eventing/events-by-time';
import { foldStream } from '#eventing/fold-stream';
import { AppError, notFound } from '#runtime/errors';
import { ownMember, type Json } from '#runtime/json';
import { readPageOfRun } from '#snapshots/snapshots';
import { previousText } from '../run-check.js';
import { initialAlert } from '../domain/alert/alert.js';
import { lostValue, withLostValue } from '../domain/alert/lost-value.js';
import { evaluated } from '../page-evaluation.js';
import type { RunDeps } from '../run.js';
import { recordedRunOf, type RecordedRun as Recorded } from './recorded-runs.js';

/** Results of two processes may be written in another order than they came to; never further apart than a run takes. */
const disorderMs = 30 * 60_000;

const gone = (): AppError =>
  new AppError(
    'NOT_FOUND',
    'snapshot_gone',
    'The page of this execution is not kept any more, or there never was one.',
  );

interface Found {
  readonly recorded: Recorded;
  /** The alert state of the task when the run began. */
  readonly before: Recorded['alert'];
}

/** null: there is no such result. */
async function findResult(
  eventStore: EventStore,
  { runId, taskId, startedAt, finishedAt }: Pick<RunResult, 'runId' | 'taskId' | 'startedAt' | 'finishedAt'>,
): Promise<Found | null> {
  const stream = runStream(taskId);
  const from = await revisionAt(eventStore, stream, Date.parse(startedAt) - disorderMs);
  const until = Date.parse(finishedAt) + disorderMs;
  let before = initialAlert;
  for await (const stored of eventStore.read(stream, Math.max(0, from - 1))) {
    const run = recordedRunOf(stored);
    if (run === null) continue;
    if (run.result.runId === runId) return { recorded: run, before };
    if (Date.parse(stored.metadata.at) > until) return null;
    if (stored.metadata.at <= startedAt) before = run.alert;
  }
  return null;
}

/** The settings that a run was made with. */
async function specAt(eventStore: EventStore, taskId: string, revision: number): Promise<TaskSpec | null> {
  const { state } = await foldStream(eventStore, taskFold, taskStream(taskId), { to: revision });
  return state.status === 'none' ? null : state.spec;
}

type Findings = Pick<RunResult, 'status' | 'outcome' | 'values' | 'logs' | 'error'>;

/** By path, as the history of a task shows changes. `from`: as recorded; `to`: as replayed. */
export function differencesBetween(recorded: Findings, replayed: Findings): Replay['differences'] {
  const differences: object[] = [];
  const compare = (path: string, from: Json | undefined, to: Json | undefined): void => {
    if (JSON.stringify(from) === JSON.stringify(to)) return;
    differences.push({ path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) });
  };
  compare('status', recorded.status, replayed.status);
  compare('outcome', recorded.outcome, replayed.outcome);
  compare('error.reason', recorded.error?.reason, replayed.error?.reason);
  compare('error.line', recorded.error?.line, replayed.error?.line);
  compare('error.column', recorded.error?.column, replayed.error?.column);
  for (const name of new Set([...Object.keys(recorded.values), ...Object.keys(replayed.values)])) {
    compare(`values.${name}`, ownMember(recorded.values, name), ownMember(replayed.values, name));
  }
  for (let at = 0; at < Math.max(recorded.logs.length, replayed.logs.length); at += 1) {
    compare(`logs[${at}]`, recorded.logs[at], replayed.logs[at]);
  }
  return replay.shape.differences.parse(differences);
}

/** Rejects with 404 for a run that is not there, is not finished, belongs to others, or whose page is gone. */
export async function replayRun(deps: RunDeps, runId: string, organizationId: string): Promise<Replay> {
  const { eventStore, readStore, snapshots, sandbox, limits } = deps;
  const execution = await readStore.get(executionsView, runId);
  if (execution === null || execution.organizationId !== organizationId) throw notFound('execution');
  const { notificationId: taskId, startedAt, finishedAt, snapshotId } = execution;
  if (startedAt === null || finishedAt === null || snapshotId === null) throw gone();
  const found = await findResult(eventStore, { runId, taskId, startedAt, finishedAt });
  const spec = found === null ? null : await specAt(eventStore, taskId, found.recorded.result.taskRevision);
  if (found === null || spec === null) throw gone();
  const { result } = found.recorded;
  const contentHash = result.page?.contentHash ?? null;
  const page = await readPageOfRun(snapshots, { organizationId, taskId, snapshotId, contentHash });
  if (page === null) throw gone();
  const { previous, state } = found.before;
  const { snapshot, body } = page;
  const replayed = await sandbox.evaluate({
    code: spec.evaluationFunction,
    form: spec.codeForm,
    page: { ...snapshot, body },
    previous: previous === null ? null : { ...previous, text: await previousText(snapshots, taskId, previous.at) },
    state,
    seed: result.seed,
    nowMs: Date.parse(result.startedAt),
    limits,
  });
  const again = evaluated({ ...snapshot, fetchMs: 0 }, replayed);
  const lost =
    result.error?.reason === 'value_lost' && again.outcome !== null ? lostValue(found.before, again.values) : null;
  const { status, outcome, values, logs, error, timings } = lost === null ? again : withLostValue(again, lost);
  const differences = differencesBetween(result, { status, outcome, values, logs, error });
  const { parseMs, evaluateMs } = timings;
  return {
    same: differences.length === 0,
    executionId: runId,
    snapshotId,
    revision: result.taskRevision,
    seed: result.seed,
    status,
    outcome,
    values,
    logs,
    error,
    differences,
    timings: { parseMs, evaluateMs },
  };
}
