/** For specs: a task's settings as stored. A spec names what it is about; a new field needs no edit in the others. */
import type { TaskSpec } from './task.js';

export function aTask(settings: Partial<TaskSpec> = {}): TaskSpec {
  return {
    name: 'Price',
    description: '',
    url: 'https://example.com/',
    evaluationFunction: 'true',
    codeForm: 'script',
    actions: [],
    schedule: { type: 'manual' },
    policy: { notifyOn: 'became_true', errorThreshold: 3 },
    fetch: {},
    tags: [],
    externalKey: null,
    ...settings,
  };
}
