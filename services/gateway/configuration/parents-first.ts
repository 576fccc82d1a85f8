/** The order in which tasks of a file can be made. */
interface Planned {
  readonly taskId: string;
  readonly input: { readonly policy: { readonly dependsOn: readonly string[] } };
}

/** Those that others depend on first. None leads back to itself. */
export function parentsFirst<Task extends Planned>(tasks: readonly Task[]): readonly Task[] {
  const byId = new Map(tasks.map((task) => [task.taskId, task]));
  const ordered = new Set<Task>();
  const add = (task: Task): void => {
    if (ordered.has(task)) return;
    for (const id of task.input.policy.dependsOn) {
      const parent = byId.get(id);
      if (parent !== undefined) add(parent);
    }
    ordered.add(task);
  };
  tasks.forEach(add);
  return [...ordered];
}
