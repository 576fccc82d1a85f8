/** What a schema cannot know of `policy.dependsOn`: that each id is a task of the organisation, and that none leads back. */
import { tasksView, type TaskDocument } from '#contracts/task';
import { refuse } from '#http/validation';
import type { ViewStore } from '#read-store/read-store';

type Tasks = Pick<ViewStore, 'get'>;

/** More tasks than this behind one dependency are not looked at: nobody would find out who keeps whom silent. */
const maxFollowed = 1_000;

const parentsOf = (task: TaskDocument | null): readonly string[] => task?.spec.policy.dependsOn ?? [];

/** Whether `taskId` is among the tasks that `parentId` depends on, directly or not; null: too many to say. */
async function leadsTo(tasks: Tasks, parentId: string, taskId: string): Promise<boolean | null> {
  const seen = new Set<string>();
  let next: readonly string[] = [parentId];
  while (next.length > 0) {
    if (next.includes(taskId)) return true;
    for (const id of next) seen.add(id);
    if (seen.size > maxFollowed) return null;
    const found = await Promise.all(next.map((id) => tasks.get(tasksView, id)));
    next = [...new Set(found.flatMap(parentsOf))].filter((id) => !seen.has(id));
  }
  return false;
}

/**
 * Throws the first fault. `before`: the task as it is, null for a new one. An id that stands there already is taken as it is:
 * a task that was archived since keeps nobody silent, and must not be in the way of other changes.
 */
export async function checkDependencies(
  tasks: Tasks,
  organizationId: string,
  dependsOn: readonly string[],
  before: TaskDocument | null,
): Promise<void> {
  const known = parentsOf(before);
  for (const [index, id] of dependsOn.entries()) {
    if (known.includes(id)) continue;
    const field = ['policy', 'dependsOn', index];
    const parent = await tasks.get(tasksView, id);
    if (parent === null || parent.organizationId !== organizationId) {
      throw refuse(field, 'unknown', 'is not a notification', 'dependency_not_found');
    }
    if (before === null) continue;
    const leadsBack = await leadsTo(tasks, id, before.id);
    if (leadsBack === true) {
      throw refuse(field, 'cycle', 'depends on this notification itself, directly or by others', 'dependency_cycle');
    }
    if (leadsBack === null) {
      throw refuse(field, 'too_many', `depends on more than ${maxFollowed} notifications`, 'dependencies_too_many');
    }
  }
}
