import { describe, expect, it } from '@jest/globals';
import { namedTasks } from './named-tasks.js';

const told = (type: string, resource: string) => ({ type, resource });

describe('the tasks whose names the audit asks for', () => {
  it('are those that entries are about, once each', () => {
    const entries = ['ntf_1', 'ntf_1', 'key_1', 'ntf_2'].map((resource) => told('task.changed', resource));
    expect([...namedTasks(entries)]).toEqual(['ntf_1', 'ntf_2']);
  });

  it('are none whose contents were purged', () => {
    const purged = { ...told('task.created', 'ntf_2'), purged: true } as const;
    const entries = [
      told('task.purged', 'ntf_1'),
      told('task.changed', 'ntf_1'),
      purged,
      told('task.created', 'ntf_3'),
    ];
    expect([...namedTasks(entries)]).toEqual(['ntf_3']);
  });

  it('are none that is archived, unless it was restored since', () => {
    const entries = [
      told('task.archived', 'ntf_1'),
      told('task.changed', 'ntf_2'),
      told('task.restored', 'ntf_2'),
      told('task.archived', 'ntf_2'),
      told('task.created', 'ntf_1'),
    ];
    expect([...namedTasks(entries)]).toEqual(['ntf_2']);
  });
});
