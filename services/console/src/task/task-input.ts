/** Of a task what can be sent back: all that is settable, nothing that is only shown. */
import type { Task, TaskInput } from '../api/types.js';

export function taskInputOf(task: Task): TaskInput {
  const { name, description, url, evaluationFunction, actions, schedule, policy, fetch, tags, externalKey, status } =
    task;
  return {
    name,
    description,
    url,
    evaluationFunction,
    actions,
    schedule,
    policy,
    fetch,
    tags,
    externalKey,
    status,
  };
}
