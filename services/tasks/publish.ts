/** Messages for other services about a task's events. */
import type { BusMessage } from '#bus/bus';
import type { TaskEvent } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { unreachable } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';

/** What scheduling needs; the settings themselves are read from the view. */
function contentOf(event: TaskEvent): JsonObject | null {
  switch (event.type) {
    case 'task.created':
    case 'task.restored':
      return { active: event.data.status === 'active', schedule: event.data.spec.schedule as JsonObject };
    case 'task.changed': {
      const { schedule, evaluationFunction } = event.data.changes;
      return {
        ...(schedule === undefined ? {} : { schedule: schedule as JsonObject }),
        ...(evaluationFunction === undefined ? {} : { codeChanged: true }),
      };
    }
    case 'task.action_disabled':
      return { ...event.data };
    case 'task.paused':
    case 'task.resumed':
    case 'task.archived':
    case 'task.purged':
    case 'task.shadow_started':
    case 'task.shadow_ended':
    case 'task.acknowledged':
    case 'task.recipient_left':
    case 'task.recipient_returned':
      return {};
    default:
      return unreachable(event);
  }
}

export function toMessages(recorded: RecordedEvent): readonly BusMessage[] {
  const content = contentOf(decodeEvent<TaskEvent>(recorded));
  if (content === null) return [];
  const taskId = recorded.stream.slice('task-'.length);
  return [
    {
      id: recorded.id,
      type: recorded.type,
      key: taskId,
      data: { ...content, taskId, revision: recorded.revision },
      metadata: { ...recorded.metadata, causationId: recorded.id },
    },
  ];
}
