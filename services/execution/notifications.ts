/** From intents to one request per subscribing action: frozen here, so that every attempt says the same. */
import type { NotificationRequest } from '#contracts/delivery';
import { sentenceOf } from '#contracts/message-sentence';
import type { AlertState, RunResult } from '#contracts/run';
import type { TaskDocument } from '#contracts/task';
import { derivedId } from '#runtime/ids';
import type { NotificationIntent } from './domain/alert/step.js';

/** A reminder belongs to the episode that it reminds of; a message that nothing ends stands under its own key. */
function episodeOf({ kind, dedupKey }: NotificationIntent, { told, episode }: AlertState): string {
  return kind === 'triggered' && told === 'true' ? `condition:${episode}` : dedupKey;
}

/** Ids are derived from task, dedup key, kind and action: a run that is repeated after a crash asks for the same deliveries. */
export function notificationsFor(
  intents: readonly NotificationIntent[],
  task: TaskDocument,
  result: RunResult,
  alert: AlertState,
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
          episode: episodeOf(intent, alert),
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
            message: sentenceOf(intent, task.spec.name, result),
          },
          createdAt: finishedAt,
          expiresAt: new Date(Date.parse(finishedAt) + action.expireAfterSeconds * 1_000).toISOString(),
        };
      }),
  );
}
