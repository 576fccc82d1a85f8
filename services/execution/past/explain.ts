/** Why a task did, or did not, notify at a moment: the last run of then, its decision step by step, and its deliveries. */
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import type { ExplainedStep, Explanation, ExplainQuery } from '#contracts/explanation';
import { wholePolicy } from '#contracts/policy';
import { dayOf } from '#contracts/retention';
import { queuedExecution, runStream } from '#contracts/run';
import { forgetsCondition, isGone, taskFold, taskStream, type Task, type TaskEvent } from '#contracts/task';
import { taskNotThere } from '#contracts/task-history';
import { decodeEvent } from '#eventing/codec';
import { revisionAt } from '#eventing/events-by-time';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { hintFor } from '#hints/hint';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import { initialAlert } from '../domain/alert/alert.js';
import { explainDecision } from '../domain/alert/explain-decision.js';
import { withResult } from '../execution-view.js';
import { foldStateOf } from '../retention/fold-state.js';
import { explainFolded } from './explain-folded.js';
import { isAhead, noRunAt, noRunYet } from './no-run.js';
import { runBefore, type RecordedRun } from './recorded-runs.js';

/** Of the newest messages: beyond so many trial messages in a row the answer has none. */
const mostLookedThrough = 100;

export interface ExplainDeps {
  readonly eventStore: Pick<EventStore, 'read' | 'readLast'>;
  readonly readStore: ReadStore;
  readonly clock: Clock;
}

interface TaskThen {
  readonly task: Exclude<Task, { readonly status: 'none' | 'archived' }>;
  readonly revision: number;
  readonly codeRevision: number;
}

function stateAfter(events: readonly RecordedEvent[]): TaskThen | null {
  let task: Task = taskFold.initial;
  let codeRevision = 0;
  for (const recorded of events) {
    const event = decodeEvent<TaskEvent>(recorded);
    task = taskFold.evolve(task, event);
    const begins = event.type === 'task.created' || event.type === 'task.restored';
    if (begins || forgetsCondition(event)) codeRevision = recorded.revision;
  }
  const revision = events.at(-1)?.revision;
  if (revision === undefined || task.status === 'none' || task.status === 'archived') return null;
  return { task, revision, codeRevision };
}

async function taskThen({ eventStore }: ExplainDeps, { taskId, at }: ExplainQuery, organizationId: string) {
  const events = await Array.fromAsync(eventStore.read(taskStream(taskId)));
  const last = events.at(-1);
  if (last === undefined || last.metadata.organizationId !== organizationId || isGone(last)) {
    throw notFound('notification');
  }
  const known = stateAfter(events.filter(({ metadata }) => metadata.at <= at));
  if (known !== null) return { events, known };
  throw taskNotThere({ at });
}

interface LastRun {
  readonly run: RecordedRun;
  readonly before: RecordedRun | null;
}

/** The last run that had been recorded then. */
async function lastRunAt({ eventStore }: ExplainDeps, { taskId, at }: ExplainQuery): Promise<LastRun | null> {
  const behind = await revisionAt(eventStore, runStream(taskId), Date.parse(at) + 1);
  const found = await runBefore(eventStore, taskId, behind);
  if (found === null) return null;
  return { run: found.run, before: (await runBefore(eventStore, taskId, found.revision))?.run ?? null };
}

/** By their ids, which the run has on record: however many there were since. */
async function deliveriesOf(
  readStore: ReadStore,
  { notifications }: RecordedRun,
): Promise<readonly DeliveryDocument[]> {
  if (notifications.length === 0) return [];
  const ids = notifications.map(({ deliveryId }) => deliveryId);
  const loaded = await readStore.load(deliveriesView, ids);
  return ids.flatMap((id) => loaded.get(id)?.document ?? []);
}

/** The newest message until then of another run; trial messages say nothing of the page. */
async function lastNotified(
  readStore: ReadStore,
  taskId: string,
  until: string,
  runId: string | null,
): Promise<Explanation['lastNotified']> {
  const { documents } = await readStore.page(deliveriesView, {
    where: [
      { field: 'notificationId', equals: taskId },
      { field: 'createdAt', from: '', to: until },
    ],
    sort: [{ field: 'createdAt', descending: true }],
    limit: mostLookedThrough,
    offset: 0,
    count: false,
  });
  const found = documents.find(({ type, executionId }) => type !== 'notification.test' && executionId !== runId);
  if (found === undefined) return null;
  const { id: deliveryId, executionId, type, state, createdAt: at } = found;
  return { deliveryId, executionId, type, state, at };
}

function shownDelivery({
  organizationId: _organizationId,
  dueAt: _dueAt,
  thread: _thread,
  ...shown
}: DeliveryDocument) {
  return shown;
}

function shownExecution(run: RecordedRun): Explanation['execution'] {
  const { organizationId: _organizationId, ...shown } = withResult(queuedExecution(run.result, ''), run);
  const hint = shown.error === null ? null : hintFor(shown.error);
  return shown.error === null || hint === null ? shown : { ...shown, error: { ...shown.error, hint } };
}

/** A message is on its way so long without a word of it. */
const usualMs = 2_000;

/** What messages wait for that were not tried yet: their time, or their receiver. */
function waitWords(deliveries: readonly DeliveryDocument[], at: string): string {
  const due = deliveries.flatMap(({ state, nextAttemptAt }) => (state === 'pending' ? (nextAttemptAt ?? []) : []));
  const held = due.filter((next) => next > at).toSorted()[0];
  if (held !== undefined) return ` The first attempt is at ${held}.`;
  return due.some((next) => Date.parse(next) + usualMs <= Date.parse(at))
    ? ' It waits for its receiver: messages that came before go first, and a receiver that does not answer gets one every 30 s until it does.'
    : '';
}

function deliveryWords(deliveries: readonly DeliveryDocument[], at: string): string {
  if (deliveries.length === 0) return 'Its messages are being prepared.';
  const states = Object.entries(Object.groupBy(deliveries, ({ state }) => state)).map(
    ([state, those]) => `${those.length} ${state}`,
  );
  const late = deliveries.find(({ state }) => state !== 'delivered' && state !== 'pending' && state !== 'sending');
  const fault = late?.attempts.at(-1)?.error ?? null;
  if (late === undefined || fault === null) return `Its messages: ${states.join(', ')}.${waitWords(deliveries, at)}`;
  const next = late.nextAttemptAt === null ? 'it is not tried again' : `the next attempt is at ${late.nextAttemptAt}`;
  return `Its messages: ${states.join(', ')}. ${fault.message} (${fault.reason}; ${next})`;
}

function answerOf(
  found: LastRun | null,
  steps: readonly ExplainedStep[],
  noRun: Explanation['noRun'],
  deliveries: readonly DeliveryDocument[],
  at: string,
  ahead: boolean,
): string {
  if (found === null && ahead) return noRun?.message ?? '';
  if (found === null) return `No run had ended by then. ${noRun?.message ?? ''}`.trim();
  const { decision, result } = found.run;
  const stopped = steps.find(({ passed }) => !passed) ?? steps.at(-1);
  const said = decision.notify
    ? `The run of ${result.scheduledFor} notified (${decision.reason}). ${deliveryWords(deliveries, at)}`
    : `The run of ${result.scheduledFor} did not notify (${decision.reason}): ${stopped?.message ?? ''}${result.hint === undefined ? '' : ` ${result.hint}`}`;
  return noRun === null || (noRun.reason === 'not_due' && !ahead) ? said : `${noRun.message} Before that: ${said}`;
}

async function folded(
  { readStore }: ExplainDeps,
  { taskId, at }: ExplainQuery,
  { task, revision, codeRevision }: TaskThen,
): Promise<Explanation> {
  const { answer, notified, value, decision, deliveryIds } = await explainFolded(readStore, taskId, at);
  const loaded = await readStore.load(deliveriesView, deliveryIds);
  return {
    at,
    answer,
    folded: true,
    notified,
    task: { id: taskId, name: task.spec.name, revision, status: task.status },
    noRun: null,
    execution: null,
    page: null,
    value,
    codeRevision,
    steps: [],
    decision,
    deliveries: deliveryIds.flatMap((id) => loaded.get(id)?.document ?? []).map(shownDelivery),
    lastNotified: await lastNotified(readStore, taskId, at, null),
  };
}

/** Rejects with 404 where the task was not there then, is archived, or belongs to others. */
export async function explain(deps: ExplainDeps, query: ExplainQuery, organizationId: string): Promise<Explanation> {
  const { events, known } = await taskThen(deps, query, organizationId);
  const { taskId, at } = query;
  const { runsThrough } = await foldStateOf(deps.eventStore, taskId);
  if (runsThrough !== null && dayOf(at) <= runsThrough) return folded(deps, query, known);
  const found = await lastRunAt(deps, query);
  const now = toTimestamp(deps.clock.now());
  const ahead = isAhead(at, now);
  const why = ahead ? noRunYet : noRunAt;
  const seen = { taskId, at: ahead ? now : at };
  const noRun = await why(deps.eventStore, seen, found?.run ?? null);
  const deliveries = found === null ? [] : await deliveriesOf(deps.readStore, found.run);
  const past = found === null ? null : stateAfter(events.slice(0, found.run.result.taskRevision + 1));
  const policy = wholePolicy((past ?? known).task.spec.policy);
  const steps =
    found === null
      ? []
      : explainDecision({
          ...found.run,
          before: found.before?.alert ?? initialAlert,
          after: found.run.alert,
          policy,
        });
  const { page = null, snapshotId = null } = found?.run.result ?? {};
  const stopped = steps.find(({ passed }) => !passed) ?? steps.at(-1);
  return {
    at,
    answer: answerOf(found, steps, noRun, deliveries, seen.at, ahead),
    folded: false,
    notified: found?.run.decision.notify ?? false,
    task: { id: taskId, name: known.task.spec.name, revision: known.revision, status: known.task.status },
    noRun,
    execution: found === null ? null : shownExecution(found.run),
    page: page === null ? null : { finalUrl: page.finalUrl, status: page.status, bytes: page.bytes, snapshotId },
    value: (found?.run.result.values['value'] ?? null) as Explanation['value'],
    codeRevision: (past ?? known).codeRevision,
    steps: [...steps],
    decision: found === null ? null : { ...found.run.decision, message: stopped?.message ?? '' },
    deliveries: deliveries.map(shownDelivery),
    lastNotified: await lastNotified(
      deps.readStore,
      taskId,
      found?.run.result.finishedAt ?? at,
      found?.run.result.runId ?? null,
    ),
  };
}
