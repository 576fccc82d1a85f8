/** From intents to one request per subscribing action: frozen here, so that every attempt says the same. */
import type { NotificationRequest } from '#contracts/delivery';
import type { RunResult } from '#contracts/run';
import type { TaskDocument } from '#contracts/task';
import { unreachable } from '#runtime/errors';
import { derivedId } from '#runtime/ids';
import type { NotificationIntent } from './domain/alert/step.js';

function triggered({ reason, change }: NotificationIntent, task: TaskDocument, { values }: RunResult): string {
  const { name } = task.spec;
  switch (reason) {
    case 'forced':
      return `"${name}" was run by hand and its condition is true.`;
    case 'reminder':
      return `"${name}": the condition is still true.`;
    case 'every_true':
      return `"${name}": the condition is true.`;
    case 'changed': {
      const what = 'value' in values ? 'value' : 'outcome';
      return change === undefined
        ? `"${name}": the ${what} changed.`
        : `"${name}": the ${what} changed from ${change.from} to ${change.to}.`;
    }
    default:
      return `"${name}": the condition became true.`;
  }
}

/** One plain sentence; the user's own values and words come with the templates. */
function sentence(intent: NotificationIntent, task: TaskDocument, result: RunResult): string {
  const { kind, transition } = intent;
  switch (kind) {
    case 'triggered':
      return triggered(intent, task, result);
    case 'recovered':
      return transition?.kind === 'health'
        ? `"${task.spec.name}" can be checked again.`
        : `"${task.spec.name}": the condition is not true any more.`;
    case 'error':
      return `"${task.spec.name}" cannot be checked: ${result.error?.message ?? 'the run failed.'}`;
    default:
      return unreachable(kind);
  }
}

/** Ids are derived from task, dedup key, kind and action: a run that is repeated after a crash asks for the same deliveries. */
export function notificationsFor(
  intents: readonly NotificationIntent[],
  task: TaskDocument,
  result: RunResult,
): NotificationRequest[] {
  return intents.flatMap((intent) =>
    task.spec.actions
      .filter(({ enabled, on }) => enabled && on.includes(intent.kind))
      .map((action): NotificationRequest => {
        const { runId, outcome, values, finishedAt, scheduledFor, page } = result;
        const dueMs = Date.parse(scheduledFor);
        return {
          deliveryId: derivedId('dlv', dueMs, task.id, intent.dedupKey, intent.kind, action.id),
          organizationId: task.organizationId,
          taskId: task.id,
          executionId: runId,
          action,
          kind: intent.kind,
          context: {
            task: {
              id: task.id,
              name: task.spec.name,
              ...(task.spec.description === '' ? {} : { description: task.spec.description }),
              url: task.spec.url,
              tags: task.spec.tags,
            },
            execution: { id: runId, outcome, values, finishedAt, finalUrl: page?.finalUrl ?? null },
            transition: intent.transition,
            message: sentence(intent, task, result),
          },
          createdAt: finishedAt,
          expiresAt: new Date(Date.parse(finishedAt) + action.expireAfterSeconds * 1_000).toISOString(),
        };
      }),
  );
}
