/** Why a task did, or did not, notify at a moment: the last run of then, its decision step by step, and its deliveries. */
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import type { ExplainedStep, Explanation, ExplainQuery } from '#contracts/explanation';
import { wholePolicy } from '#contracts/policy';
import { executionsView, queuedExecution, runStream, type ExecutionDocument } from '#contracts/run';
import { taskFold, taskStream, type Task, type TaskEvent } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import type { ReadStore } from '#read-store/read-store';
import { AppError, notFound } from '#runtime/errors';
import { initialAlert } from '../domain/alert/alert.js';
import { explainDecision } from '../domain/alert/explain-decision.js';
import { noRunAt } from './no-run.js';
import { recordedRunOf, revisionAt, runBefore, type RecordedRun } from './recorded-runs.js';

export interface ExplainDeps {
  readonly eventStore: Pick<EventStore, 'read' | 'readLast'>;
  readonly readStore: ReadStore;
}

interface TaskThen {
  readonly task: Exclude<Task, { readonly status: 'none' | 'archived' }>;
  readonly revision: number;
  readonly codeRevision: number;
}

function isNewCode(event: TaskEvent): boolean {
  if (event.type === 'task.changed') return event.data.changes.evaluationFunction !== undefined;
  return event.type === 'task.created' || event.type === 'task.restored' || event.type === 'task.resumed';
}

function stateAfter(events: readonly RecordedEvent[]): TaskThen | null {
  let task: Task = taskFold.initial;
  let codeRevision = 0;
  for (const recorded of events) {
    const event = decodeEvent<TaskEvent>(recorded);
    task = taskFold.evolve(task, event);
    if (isNewCode(event)) codeRevision = recorded.revision;
  }
  const revision = events.at(-1)?.revision;
  if (revision === undefined || task.status === 'none' || task.status === 'archived') return null;
  return { task, revision, codeRevision };
}

async function taskThen({ eventStore }: ExplainDeps, { taskId, at }: ExplainQuery, organizationId: string) {
  const events = await Array.fromAsync(eventStore.read(taskStream(taskId)));
  const last = events.at(-1);
  if (last === undefined || last.metadata.organizationId !== organizationId || last.type === 'task.archived') {
    throw notFound('notification');
  }
  const known = stateAfter(events.filter(({ metadata }) => metadata.at <= at));
  if (known !== null) return { events, known };
  const message = `The notification was not there at ${at}.`;
  throw new AppError('NOT_FOUND', 'not_there_then', message, { details: [{ field: 'at', rule: 'unknown', message }] });
}

interface LastRun {
  readonly run: RecordedRun;
  readonly before: RecordedRun | null;
}

/** The last run that had been recorded then. */
async function lastRunAt(deps: ExplainDeps, { taskId, at }: ExplainQuery): Promise<LastRun | null> {
  const { eventStore } = deps;
  const behind = await revisionAt(eventStore, runStream(taskId), Date.parse(at) + 1);
  for (let revision = behind - 1; revision >= 0; revision -= 1) {
    for await (const recorded of eventStore.read(runStream(taskId), revision)) {
      const run = recordedRunOf(recorded);
      if (run !== null) return { run, before: await runBefore(eventStore, taskId, revision) };
      break;
    }
  }
  return null;
}

function asExecution({ result, decision }: RecordedRun): Omit<ExecutionDocument, 'organizationId'> {
  const { organizationId: _organizationId, ...queued } = queuedExecution(result, '');
  const { status, outcome, values, logs, error, snapshotId, page, startedAt, finishedAt, timings, seed } = result;
  const revision = result.taskRevision < 0 ? null : result.taskRevision;
  const found = { status, outcome, values, logs, error, snapshotId, page, startedAt, finishedAt, timings, seed };
  return { ...queued, ...found, revision, decision };
}

async function deliveriesUntil(readStore: ReadStore, taskId: string, at: string): Promise<readonly DeliveryDocument[]> {
  const { documents } = await readStore.page(deliveriesView, {
    where: [
      { field: 'notificationId', equals: taskId },
      { field: 'createdAt', from: '', to: at },
    ],
    sort: [{ field: 'createdAt', descending: true }],
    limit: 50,
    offset: 0,
    count: false,
  });
  return documents;
}

function shownDelivery({ organizationId: _organizationId, dueAt: _dueAt, ...shown }: DeliveryDocument) {
  return shown;
}

function deliveryWords(deliveries: readonly DeliveryDocument[]): string {
  if (deliveries.length === 0) return 'Its messages are being prepared.';
  const states = Object.entries(Object.groupBy(deliveries, ({ state }) => state)).map(
    ([state, those]) => `${those.length} ${state}`,
  );
  return `Its messages: ${states.join(', ')}.`;
}

function answerOf(
  found: LastRun | null,
  steps: readonly ExplainedStep[],
  noRun: Explanation['noRun'],
  deliveries: readonly DeliveryDocument[],
): string {
  if (found === null) return `No run had ended by then. ${noRun?.message ?? ''}`.trim();
  const { decision, result } = found.run;
  const stopped = steps.find(({ passed }) => !passed) ?? steps.at(-1);
  const said = decision.notify
    ? `The run of ${result.scheduledFor} notified (${decision.reason}). ${deliveryWords(deliveries)}`
    : `The run of ${result.scheduledFor} did not notify (${decision.reason}): ${stopped?.message ?? ''}`;
  return noRun === null || noRun.reason === 'not_due' ? said : `${noRun.message} Before that: ${said}`;
}

/** Rejects with 404 where the task was not there then, is archived, or belongs to others. */
export async function explain(deps: ExplainDeps, query: ExplainQuery, organizationId: string): Promise<Explanation> {
  const { events, known } = await taskThen(deps, query, organizationId);
  const { taskId, at } = query;
  const found = await lastRunAt(deps, query);
  const noRun = await noRunAt(deps.eventStore, query, found?.run.result ?? null);
  const all = await deliveriesUntil(deps.readStore, taskId, found === null ? at : '9999');
  const deliveries = all.filter(({ executionId }) => executionId === found?.run.result.runId);
  const made = found?.run.result.finishedAt ?? at;
  const earlier = all.find(
    ({ createdAt, executionId }) => createdAt <= made && executionId !== found?.run.result.runId,
  );
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
  const execution =
    found === null
      ? null
      : await deps.readStore.get(executionsView, found.run.result.runId).then((document) => {
          if (document === null) return asExecution(found.run);
          const { organizationId: _organizationId, ...shown } = document;
          return shown;
        });
  const { page = null, snapshotId = null } = found?.run.result ?? {};
  const stopped = steps.find(({ passed }) => !passed) ?? steps.at(-1);
  return {
    at,
    answer: answerOf(found, steps, noRun, deliveries),
    notified: found?.run.decision.notify ?? false,
    task: { id: taskId, name: known.task.spec.name, revision: known.revision, status: known.task.status },
    noRun,
    execution,
    page: page === null ? null : { finalUrl: page.finalUrl, status: page.status, bytes: page.bytes, snapshotId },
    value: (found?.run.result.values['value'] ?? null) as Explanation['value'],
    codeRevision: (past ?? known).codeRevision,
    steps: [...steps],
    decision: found === null ? null : { ...found.run.decision, message: stopped?.message ?? '' },
    deliveries: deliveries.map(shownDelivery),
    lastNotified:
      earlier === undefined
        ? null
        : {
            deliveryId: earlier.id,
            executionId: earlier.executionId,
            type: earlier.type,
            state: earlier.state,
            at: earlier.createdAt,
          },
  };
}
