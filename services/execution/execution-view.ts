/** The view `executions`: one document per run, from due to recorded. */
import { executionsView, queuedExecution, type ExecutionDocument, type RunEvent } from '#contracts/run';
import type { DueRun, ScheduleEvent } from '#contracts/schedule';
import { decodeEvent } from '#eventing/codec';
import { forgottenBySchedule } from './forgotten-slots.js';
import { isOfFold } from './retention/folded-runs.js';
import type { RecordedEvent } from '#event-store/event-store';
import { forgettingPurged } from '#eventing/forget-purged';

/** What one recorded run says. */
export type RecordedRun = Extract<RunEvent, { readonly type: 'run.recorded' }>['data'];

type Known = RunEvent | ScheduleEvent;

function runOf(event: Known): DueRun | null {
  switch (event.type) {
    case 'slot.fired':
    case 'run.requested':
    case 'run.started':
    case 'run.cancelled':
    case 'run.forgotten':
      return event.data.run;
    case 'run.recorded':
      return event.data.result;
    default:
      return null;
  }
}

/** A run as it stands once it is recorded. */
export function withResult(base: ExecutionDocument, { result, decision }: RecordedRun): ExecutionDocument {
  const { status, outcome, values, logs, error, snapshotId, page, startedAt, finishedAt, timings, seed, hint } = result;
  const { screenshotId } = result;
  const revision = result.taskRevision < 0 ? null : result.taskRevision;
  return {
    ...base,
    revision,
    status,
    outcome,
    values,
    logs,
    error,
    decision,
    snapshotId,
    ...(screenshotId !== undefined && { screenshotId }),
    page,
    startedAt,
    finishedAt,
    timings,
    seed,
    ...(hint !== undefined && { hint }),
  };
}

const shutDown = {
  reason: 'shutdown',
  message:
    'Meerkat was stopped before the run was over. It begins anew once Meerkat runs again, or at once where other processes do.',
};

function after(document: ExecutionDocument | null, event: Known, recorded: RecordedEvent): ExecutionDocument | null {
  const queued = (run: DueRun): ExecutionDocument => queuedExecution(run, recorded.metadata.organizationId);
  switch (event.type) {
    case 'slot.fired':
    case 'run.requested':
      return document ?? queued(event.data.run);
    case 'run.started':
      // Due before it began: one that is not there was forgotten with its task. One that is recorded stays so, whatever a second
      // worker began.
      if (document === null || document.finishedAt !== null) return document;
      return { ...document, status: 'running', error: null, startedAt: event.data.startedAt };
    case 'run.cancelled':
      if (document === null || document.finishedAt !== null) return document;
      return { ...document, status: 'cancelled', error: shutDown };
    case 'run.forgotten':
      return null;
    case 'run.recorded':
      return withResult(document ?? queued(event.data.result), event.data);
    default:
      return document;
  }
}

export const executionsProjection = forgettingPurged<ExecutionDocument>(
  {
    view: executionsView,
    prefixes: ['schedule-', 'claim-', 'run-', 'stats-'],
    idOf: (recorded) => (isOfFold(recorded) ? null : (runOf(decodeEvent<Known>(recorded))?.runId ?? null)),
    reduce: (document, recorded) => after(document, decodeEvent<Known>(recorded), recorded),
    forgets: forgottenBySchedule,
  },
  'notificationId',
);
