/** The view `shadows`: how often a candidate and the task's own settings would have done the same, run by run. */
import type { RunEvent } from '#contracts/run';
import { mostDifferences, noShadowFigures, shadowsView, type ShadowDocument } from '#contracts/shadow';
import type { TaskEvent } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import type { Projected } from '#eventing/projected';

const ofTasks: readonly string[] = ['task.shadow_started', 'task.shadow_ended', 'task.archived'];

function idOf({ stream, type, data }: RecordedEvent): string | null {
  const isAbout = type === 'run.recorded' ? data['shadow'] !== undefined : ofTasks.includes(type);
  return isAbout ? stream.slice(stream.indexOf('-') + 1) : null;
}

function withRun(
  document: ShadowDocument,
  { result, decision, shadow }: Extract<RunEvent, { readonly type: 'run.recorded' }>['data'],
): ShadowDocument {
  if (shadow?.startedAt !== document.startedAt) return document;
  const { outcome, error } = shadow;
  const counted = { ...document, runs: document.runs + 1 };
  if (error === null && shadow.decision.notify === decision.notify) return { ...counted, same: document.same + 1 };
  const difference = {
    executionId: result.runId,
    at: result.finishedAt,
    live: { outcome: result.outcome, decision },
    shadow: { outcome, decision: shadow.decision, error },
  };
  const differences = [difference, ...document.differences].slice(0, mostDifferences);
  if (error !== null) return { ...counted, failed: document.failed + 1, differences };
  return decision.notify
    ? { ...counted, onlyLive: document.onlyLive + 1, differences }
    : { ...counted, onlyShadow: document.onlyShadow + 1, differences };
}

function reduce(document: ShadowDocument | null, recorded: RecordedEvent): ShadowDocument | null {
  const event = decodeEvent<TaskEvent | RunEvent>(recorded);
  switch (event.type) {
    case 'task.shadow_started': {
      const id = recorded.stream.slice('task-'.length);
      const { organizationId } = recorded.metadata;
      return { ...noShadowFigures, id, organizationId, startedAt: event.data.shadow.startedAt };
    }
    case 'task.shadow_ended':
    case 'task.archived':
      return null;
    case 'run.recorded':
      return document === null ? null : withRun(document, event.data);
    default:
      return document;
  }
}

export const shadowsProjection: Projected<ShadowDocument> = {
  view: shadowsView,
  prefixes: ['task-', 'run-'],
  idOf,
  reduce,
};
