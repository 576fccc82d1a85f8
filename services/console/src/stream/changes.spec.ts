import { describe, expect, it } from '@jest/globals';
import type { Task } from '../api/types.js';
import { changesOf, newerOf } from './changes.js';

const taskOf = (id: string, revision: number): Task => ({ id, revision }) as Task;

describe('what the stream brings within a moment', () => {
  it('is each task as it stood last, also where a change was undone at once', () => {
    const { tasks } = changesOf([
      { kind: 'task', data: taskOf('a', 1) },
      { kind: 'task', data: taskOf('b', 7) },
      { kind: 'task', data: taskOf('a', 2) },
    ]);
    expect(tasks).toEqual([taskOf('a', 2), taskOf('b', 7)]);
  });

  it('is told apart by its kind', () => {
    const run = { id: 'exe_1', notificationId: 'a' };
    const changes = changesOf([
      { kind: 'execution', data: run },
      { kind: 'removed', data: { kind: 'task', id: 'a' } },
      { kind: 'delivery', data: { id: 'dlv_1' } },
    ]);
    expect(changes).toEqual({
      tasks: [],
      executions: [run],
      deliveries: [{ id: 'dlv_1' }],
      removed: [{ kind: 'task', id: 'a' }],
    });
  });
});

describe('a task that is shown', () => {
  it('does not go back to a revision before the one that was read', () => {
    expect(newerOf(taskOf('a', 3), taskOf('a', 2))).toEqual(taskOf('a', 3));
    expect(newerOf(taskOf('a', 3), taskOf('a', 4))).toEqual(taskOf('a', 4));
    expect(newerOf(undefined, taskOf('a', 1))).toEqual(taskOf('a', 1));
  });

  it('takes what came of its runs at the same revision', () => {
    const brought = { ...taskOf('a', 3), health: 'error' } as Task;
    expect(newerOf(taskOf('a', 3), brought)).toBe(brought);
  });
});
