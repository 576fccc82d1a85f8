/** Whether a task has to be silent because of one that it depends on. */
import type { StoredPolicy } from '#contracts/policy';
import { runStream, type AlertState, type RunEvent } from '#contracts/run';
import { tasksView } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { EventStore } from '#event-store/event-store';
import type { ViewStore } from '#read-store/read-store';

export interface DependencyStores {
  readonly eventStore: Pick<EventStore, 'readLast'>;
  readonly readStore: Pick<ViewStore, 'get'>;
}

/** Whether a task in this state keeps those silent that depend on it. `isOfPresentCode`: its condition still says something. */
export function keepsSilent({ condition, flapping, health }: AlertState, isOfPresentCode: boolean): boolean {
  return (isOfPresentCode && condition === 'true' && flapping !== true) || health !== 'ok';
}

/** A task that is archived, or of another organisation, keeps nobody silent; nor does an outcome of code that was edited since. */
async function isDown(
  { eventStore, readStore }: DependencyStores,
  taskId: string,
  organizationId: string,
): Promise<boolean> {
  const task = await readStore.get(tasksView, taskId);
  if (task === null || task.organizationId !== organizationId) return false;
  // The view may lag behind the run; the stream does not.
  const last = await eventStore.readLast(runStream(taskId));
  if (last === null) return false;
  const event = decodeEvent<RunEvent>(last);
  if (event.type !== 'run.recorded') return false;
  const { alert } = event.data;
  return keepsSilent(alert, alert.codeRevision >= task.codeRevision);
}

export async function isDependencyDown(
  stores: DependencyStores,
  organizationId: string,
  { dependsOn = [] }: Pick<StoredPolicy, 'dependsOn'>,
): Promise<boolean> {
  const found = await Promise.all(dependsOn.map((id) => isDown(stores, id, organizationId)));
  return found.includes(true);
}
