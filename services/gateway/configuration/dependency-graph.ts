/** Whether tasks of a file would keep each other silent, with what they depend on outside of it. */
import { tasksView } from '#contracts/task';
import { refuse } from '#http/validation';
import type { ReadStore } from '#read-store/read-store';

interface Node {
  readonly index: number;
  readonly taskId: string;
  readonly input: { readonly policy: { readonly dependsOn: readonly string[] } };
}

/** Throws where one of them leads back to itself. */
export async function checkGraph(readStore: Pick<ReadStore, 'get'>, nodes: readonly Node[]): Promise<void> {
  const ofFile = new Map(nodes.map(({ taskId, input }) => [taskId, input.policy.dependsOn]));
  const outside = new Map<string, readonly string[]>();
  const parentsOf = async (id: string): Promise<readonly string[]> => {
    const known = ofFile.get(id) ?? outside.get(id);
    if (known !== undefined) return known;
    const parents = (await readStore.get(tasksView, id))?.spec.policy.dependsOn ?? [];
    outside.set(id, parents);
    return parents;
  };
  const cleared = new Set<string>();
  for (const { index, taskId } of nodes) {
    const path = new Set<string>();
    const leadsBack = async (id: string): Promise<boolean> => {
      if (path.has(id)) return true;
      if (cleared.has(id)) return false;
      path.add(id);
      for (const parent of await parentsOf(id)) if (await leadsBack(parent)) return true;
      path.delete(id);
      cleared.add(id);
      return false;
    };
    if (await leadsBack(taskId)) {
      const field = ['notifications', index, 'policy', 'dependsOn'];
      throw refuse(field, 'cycle', 'leads back to a notification that depends on this one', 'dependency_cycle');
    }
  }
}

/** Those that others depend on first. */
export function parentsFirst<Planned extends Node>(nodes: readonly Planned[]): readonly Planned[] {
  const byId = new Map(nodes.map((node) => [node.taskId, node]));
  const ordered = new Set<Planned>();
  const add = (node: Planned): void => {
    if (ordered.has(node)) return;
    for (const id of node.input.policy.dependsOn) {
      const parent = byId.get(id);
      if (parent !== undefined) add(parent);
    }
    ordered.add(node);
  };
  nodes.forEach(add);
  return [...ordered];
}
