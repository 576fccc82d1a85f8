/** The history of one task: each event with what it changed, oldest first. */
import { taskFold, taskStream, type HistoryEntry, type Task, type TaskEvent } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { EventStore } from '#event-store/event-store';
import { notFound } from '#runtime/errors';
import { isJsonObject, type Json, type JsonObject } from '#runtime/json';

export interface TaskHistory {
  readonly entries: readonly HistoryEntry[];
}

interface Change {
  readonly path: string;
  readonly from?: Json;
  readonly to?: Json;
}

/** Leaves that differ, by path (`policy.errorThreshold`, `actions[0].enabled`); an absent side has no value. */
export function diffPaths(before: Json | undefined, after: Json | undefined, path = ''): readonly Change[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) =>
      diffPaths(before[index] as Json | undefined, after[index] as Json | undefined, `${path}[${index}]`),
    ).flat();
  }
  if (isJsonObject(before) && isJsonObject(after) && !('$sealed' in before) && !('$sealed' in after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => diffPaths(before[name], after[name], path === '' ? name : `${path}.${name}`));
  }
  return [{ path, ...(before === undefined ? {} : { from: before }), ...(after === undefined ? {} : { to: after }) }];
}

function settingsOf(task: Task): JsonObject {
  if (task.status === 'none') return {};
  return { ...(task.spec as unknown as JsonObject), status: task.status };
}

export async function historyOf(eventStore: EventStore, taskId: string, organizationId: string): Promise<TaskHistory> {
  const entries: HistoryEntry[] = [];
  let task = taskFold.initial;
  for await (const recorded of eventStore.read(taskStream(taskId))) {
    if (recorded.metadata.organizationId !== organizationId) break;
    const event = decodeEvent<TaskEvent>(recorded);
    const after = taskFold.evolve(task, event);
    const { at, actor, requestId } = recorded.metadata;
    entries.push({
      revision: recorded.revision,
      type: event.type,
      at,
      actor,
      requestId,
      data: event.data as HistoryEntry['data'],
      changes: diffPaths(settingsOf(task), settingsOf(after)) as HistoryEntry['changes'],
    });
    task = after;
  }
  if (entries.length === 0 || task.status === 'archived') throw notFound('notification');
  return { entries };
}
