import type { Task } from '#contracts/task';

export const owns = (task: Task): boolean => task.name !== '';
