/** What a schema cannot know of `policy.dependsOn`: that each id is a task of the organisation, and that none leads back. */
import { tasksView, type TaskDocument } from '#contracts/task';
import { refuse } from '#http/validation';
import type { ViewStore } from '#read-store/read-store';

/** What is asked of tasks: as they are, or as they will be. */
export interface DependencyLookup {
  /** Whether there is such a task of the organisation. */
  isOf(organizationId: string, id: string): Promise<boolean>;
  /** What the task depends on; nothing where there is none. */
  parentsOf(id: string): Promise<readonly string[]>;
}

/** Tasks as they are. */
export function presentTasks(readStore: Pick<ViewStore, 'get'>): DependencyLookup {
  return {
    isOf: async (organizationId, id) => (await readStore.get(tasksView, id))?.organizationId === organizationId,
    parentsOf: async (id) => (await readStore.get(tasksView, id))?.spec.policy.dependsOn ?? [],
  };
}

/** A task before its dependencies change. */
export interface DependentTask {
  readonly id: string;
  readonly parents: readonly string[];
}

export function dependentTask({ id, spec }: Pick<TaskDocument, 'id' | 'spec'>): DependentTask {
  return { id, parents: spec.policy.dependsOn ?? [] };
}

/** Whether there is anything to check that others might change meanwhile. */
export function addsDependency(dependsOn: readonly string[], before: DependentTask): boolean {
  return dependsOn.some((id) => !before.parents.includes(id));
}

/** More tasks than this behind one dependency are not looked at: nobody would find out who keeps whom silent. */
const maxFollowed = 1_000;

/** Whether `taskId` is among the tasks that `parentId` depends on, directly or not; null: too many to say. */
async function leadsTo(tasks: DependencyLookup, parentId: string, taskId: string): Promise<boolean | null> {
  const seen = new Set<string>();
  let next: readonly string[] = [parentId];
  while (next.length > 0) {
    if (next.includes(taskId)) return true;
    for (const id of next) seen.add(id);
    if (seen.size > maxFollowed) return null;
    const found = await Promise.all(next.map((id) => tasks.parentsOf(id)));
    next = [...new Set(found.flat())].filter((id) => !seen.has(id));
  }
  return false;
}

/**
 * Throws the first fault. `before`: the task as it is, null for one that nothing can depend on yet. An id that stands there
 * already is taken as it is: a task that was archived since keeps nobody silent, and must not be in the way of other changes.
 */
export async function checkDependencies(
  tasks: DependencyLookup,
  organizationId: string,
  dependsOn: readonly string[],
  before: DependentTask | null,
): Promise<void> {
  for (const [index, id] of dependsOn.entries()) {
    if (before?.parents.includes(id) === true) continue;
    const field = ['policy', 'dependsOn', index];
    if (!(await tasks.isOf(organizationId, id))) {
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
