/**
 * Other code, or another policy, on the recorded runs of a task (`run.backtest`): each run that left a page is evaluated and
 * decided again, in their order, from the alert state that the task had before the first of them. Nothing is recorded.
 */
import { wholePolicy } from '#contracts/policy';
import { runStream, type AlertState, type Backtest, type BacktestQuery, type RunError } from '#contracts/run';
import { taskFold, taskStream } from '#contracts/task';
import type { EventStore } from '#event-store/event-store';
import { foldStream } from '#eventing/fold-stream';
import { notFound } from '#runtime/errors';
import type { EvaluationResult, Sandbox, SandboxLimits } from '#sandbox/sandbox';
import type { KeptPage, Snapshots } from '#snapshots/snapshots';
import { decideAlert, initialAlert } from '../domain/alert/alert.js';
import type { AlertContext } from '../domain/alert/step.js';
import type { RunDeps } from '../run.js';
import { dependenciesOver, type DependenciesOver } from './dependencies-over.js';
import { recordedRunOf, revisionAt, runBefore, type RecordedRun } from './recorded-runs.js';

/** What one request may take, below the time that its caller waits. */
const longestMs = 25_000;
/** Evaluated at once, on the guess that the code looks at nothing but its page. */
const ahead = 8;
const longestValue = 200;

type Candidate = BacktestQuery['candidate'];
type Row = Backtest['snapshots'][number];

/** The runs of that time, oldest first, from the first one whose page is among the newest `limit`. */
async function runsOf(
  eventStore: EventStore,
  { taskId, from, to, limit }: BacktestQuery,
): Promise<{ readonly runs: readonly RecordedRun[]; readonly before: AlertState }> {
  const stream = runStream(taskId);
  const first = from === null ? 0 : await revisionAt(eventStore, stream, Date.parse(from));
  let runs: RecordedRun[] = [];
  let before = (await runBefore(eventStore, taskId, first))?.alert ?? initialAlert;
  const seen = new Map<string, number>();
  for await (const recorded of eventStore.read(stream, first)) {
    if (to !== null && recorded.metadata.at > to) break;
    const run = recordedRunOf(recorded);
    if (run === null || run.result.dryRun) continue;
    runs.push(run);
    const { snapshotId } = run.result;
    if (snapshotId === null) continue;
    seen.set(snapshotId, (seen.get(snapshotId) ?? 0) + 1);
    if (seen.size <= limit) continue;
    // The oldest page goes, with its runs and those that had none before the next.
    const oldest = runs.findIndex(({ result }) => result.snapshotId !== null);
    const gone = runs[oldest]?.result.snapshotId;
    const next = runs.findIndex(
      ({ result }, at) => at > oldest && result.snapshotId !== null && result.snapshotId !== gone,
    );
    before = runs[next - 1]?.alert ?? before;
    for (const { result } of runs.slice(0, next)) if (result.snapshotId !== null) seen.delete(result.snapshotId);
    runs = runs.slice(next);
  }
  return { runs, before };
}

/** The candidate as if it had been the task's all the time: what others found with the old code does not bind it. */
function beginning(alert: AlertState, hasNewCode: boolean): AlertState {
  return { ...alert, codeRevision: hasNewCode ? -1 : 0 };
}

interface Judging {
  readonly sandbox: Sandbox;
  readonly limits: SandboxLimits;
  readonly candidate: Candidate;
}

interface Before {
  readonly previous: AlertState['previous'];
  readonly text: () => string | null;
  readonly state: AlertState['state'];
}

function evaluateOn(
  { sandbox, limits, candidate }: Judging,
  { snapshot, body }: KeptPage,
  { result }: RecordedRun,
  { previous, text, state }: Before,
): Promise<EvaluationResult> {
  const { evaluationFunction: code, codeForm: form } = candidate;
  const run = (previousText: string | null): Promise<EvaluationResult> =>
    sandbox.evaluate({
      code,
      form,
      page: { ...snapshot, body },
      previous: previous === null ? null : { ...previous, text: previousText },
      state,
      seed: result.seed,
      nowMs: Date.parse(result.startedAt),
      limits,
    });
  return run(null).then((found) =>
    previous !== null && found.touched?.includes('previous_text') === true ? run(text()) : found,
  );
}

/** Whether it would have found the same after any other run. */
function standsAlone({ touched }: EvaluationResult): boolean {
  return touched !== undefined && !touched.some((what) => ['state', 'previous', 'previous_text'].includes(what));
}

/** Pages by id, each read once while its runs follow each other. */
function pageReader(snapshots: Snapshots, taskId: string, organizationId: string) {
  const pages = new Map<string, Promise<KeptPage | null>>();
  return (snapshotId: string): Promise<KeptPage | null> => {
    const known = pages.get(snapshotId);
    if (known !== undefined) return known;
    const reading = snapshots
      .read(taskId, snapshotId)
      .then((page) => (page?.snapshot.organizationId === organizationId ? page : null));
    pages.set(snapshotId, reading);
    if (pages.size > 4 * ahead) pages.delete(pages.keys().next().value ?? '');
    return reading;
  };
}

function errorOf(found: EvaluationResult): RunError | null {
  if (found.ok) return null;
  const { endedFromOutside: _endedFromOutside, ...error } = found.failure;
  return error;
}

function addTo(rows: Map<string, Row>, row: Row): void {
  const known = rows.get(row.snapshotId);
  if (known === undefined) {
    rows.set(row.snapshotId, row);
    return;
  }
  // Of several runs on one page the one that notifies says most.
  const said = known.decision.notify && !row.decision.notify ? known : row;
  const recorded = known.recorded.decision.notify && !row.recorded.decision.notify ? known.recorded : row.recorded;
  rows.set(row.snapshotId, { ...said, recorded, runs: known.runs + 1 });
}

function summaryOf(rows: readonly Row[], complete: boolean): Backtest['summary'] {
  const count = (matches: (row: Row) => boolean): number => rows.filter(matches).length;
  return {
    snapshots: rows.length,
    wouldNotify: count(({ decision }) => decision.notify),
    didNotify: count(({ recorded }) => recorded.decision.notify),
    onlyNew: count(({ decision, recorded }) => decision.notify && !recorded.decision.notify),
    onlyOld: count(({ decision, recorded }) => !decision.notify && recorded.decision.notify),
    complete,
  };
}

interface Going extends Judging {
  readonly deps: RunDeps;
  readonly organizationId: string;
  readonly context: Omit<AlertContext, 'isDependencyDown'>;
  readonly dependencies: DependenciesOver;
  readonly readPage: (snapshotId: string) => Promise<KeptPage | null>;
}

/** The findings of the next runs, each as if the one before it had changed nothing that its code looks at. */
async function guess(
  going: Going,
  runs: readonly RecordedRun[],
  before: Before,
): Promise<ReadonlyMap<RecordedRun, EvaluationResult>> {
  const found = await Promise.all(
    runs.map(async (run) => {
      const { snapshotId } = run.result;
      const page = snapshotId === null ? null : await going.readPage(snapshotId);
      if (page === null) return null;
      const release = await going.deps.slots.acquire({ organization: going.organizationId });
      try {
        return [run, await evaluateOn(going, page, run, before)] as const;
      } finally {
        release();
      }
    }),
  );
  return new Map(found.filter((one) => one !== null));
}

/** Rejects with 404 where there is no such task of the organisation. */
export async function backtestTask(deps: RunDeps, query: BacktestQuery, organizationId: string): Promise<Backtest> {
  const { eventStore, snapshots, sandbox, limits, clock } = deps;
  const { taskId, candidate } = query;
  const { state: task, recorded } = await foldStream(eventStore, taskFold, taskStream(taskId));
  if (task.status === 'none' || task.status === 'archived') throw notFound('notification');
  if (recorded.at(-1)?.metadata.organizationId !== organizationId) throw notFound('notification');
  const { runs, before } = await runsOf(eventStore, query);
  const going: Going = {
    deps,
    organizationId,
    sandbox,
    limits,
    candidate,
    context: { policy: wholePolicy(candidate.policy), paused: false, codeRevision: 0, actions: task.spec.actions },
    dependencies: dependenciesOver(eventStore, candidate.policy.dependsOn, organizationId),
    readPage: pageReader(snapshots, taskId, organizationId),
  };
  const until = clock.now() + longestMs;
  const rows = new Map<string, Row>();
  let alert = beginning(before, candidate.evaluationFunction !== task.spec.evaluationFunction);
  let guessed: ReadonlyMap<RecordedRun, EvaluationResult> = new Map();
  let width = 1;
  let text: Uint8Array | null = null;
  for (const [at, run] of runs.entries()) {
    if (clock.now() > until) return { snapshots: [...rows.values()], summary: summaryOf([...rows.values()], false) };
    const { result, decision } = run;
    const last = text;
    const beforeRun: Before = {
      previous: alert.previous,
      text: () => (last === null ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(last)),
      state: alert.state,
    };
    const page = result.snapshotId === null ? null : await going.readPage(result.snapshotId);
    let found: EvaluationResult | null = null;
    if (page !== null) {
      const known = guessed.get(run);
      if (known === undefined || !standsAlone(known)) {
        guessed = await guess(going, runs.slice(at, at + width), beforeRun);
      }
      found = guessed.get(run) ?? null;
      width = found !== null && standsAlone(found) ? ahead : 1;
      text = page.body;
    }
    // A run that left no page, or whose page is gone, is taken as it was recorded.
    const isDependencyDown = await going.dependencies.isDownAt(result.finishedAt);
    const decided = decideAlert(
      alert,
      {
        ...result,
        outcome: found === null ? result.outcome : found.ok ? found.outcome : null,
        values: found === null ? result.values : found.values,
        state: found?.ok === true ? found.state : null,
        endedFromOutside: found !== null && !found.ok && found.failure.endedFromOutside === true,
        isOwnNetwork: result.error?.reason === 'own_network',
      },
      { ...going.context, isDependencyDown },
    );
    ({ alert } = decided);
    if (found === null || result.snapshotId === null) continue;
    const value = found.values['value'] ?? null;
    addTo(rows, {
      snapshotId: result.snapshotId,
      executionId: result.runId,
      at: result.finishedAt,
      runs: 1,
      outcome: found.ok ? found.outcome : null,
      value: JSON.stringify(value).length > longestValue ? null : (value as Row['value']),
      error: errorOf(found),
      decision: decided.decision,
      recorded: { outcome: result.outcome, decision },
    });
  }
  return { snapshots: [...rows.values()], summary: summaryOf([...rows.values()], true) };
}
