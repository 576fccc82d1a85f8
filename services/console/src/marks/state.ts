/** The one state that a task is shown with: a word, a shape and a colour, never a colour alone. */
import type { Task } from '../api/types.js';
import type { TextKey } from '../text/catalogue.js';

export type TaskState = 'paused' | 'blocked' | 'broken' | 'met' | 'flapping' | 'not-met' | 'unknown';

/** Paused comes before all else, then what keeps the check from answering, then the answer. */
export function stateOf(task: Pick<Task, 'status' | 'health' | 'condition'>): TaskState {
  if (task.status === 'paused') return 'paused';
  if (task.health === 'blocked') return 'blocked';
  if (task.health === 'error') return 'broken';
  switch (task.condition) {
    case 'true':
      return 'met';
    case 'flapping':
      return 'flapping';
    case 'false':
      return 'not-met';
    default:
      return 'unknown';
  }
}

export const stateWords: Readonly<Record<TaskState, TextKey>> = {
  paused: 'state.paused',
  blocked: 'state.blocked',
  broken: 'state.broken',
  met: 'state.met',
  flapping: 'state.flapping',
  'not-met': 'state.notMet',
  unknown: 'state.unknown',
};
