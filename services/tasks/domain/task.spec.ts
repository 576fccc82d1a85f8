import { describe, it } from '@jest/globals';
import type { TaskEvent } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import { given } from '#eventing/given';
import { taskDecider } from './task.js';

const taskId = 'ntf_00000000000000000000000001';
const actionId = 'act_00000000000000000000000001';
const deliveryId = 'dlv_00000000000000000000000001';
const actor = 'key:key_1';
const spec = aTask({
  actions: [{ id: actionId, type: 'webhook', config: {}, enabled: true, expireAfterSeconds: 60, on: ['triggered'] }],
});
const created: TaskEvent = { type: 'task.created', data: { spec, status: 'active', createdBy: actor } };
const archived: TaskEvent = { type: 'task.archived', data: { externalKey: null } };
const replace = { type: 'replaceTask', taskId, spec, status: 'active', expectedRevision: null, actor } as const;

describe('a task', () => {
  it('is created once, however often the command is repeated', () => {
    given(taskDecider)
      .when({ type: 'createTask', taskId, spec, status: 'active', actor })
      .then(created)
      .andAgainNothing();
  });

  it('records only the fields that differ', () => {
    given(taskDecider, created)
      .when({ ...replace, spec: { ...spec, name: 'Cost', tags: ['a'] } })
      .then({ type: 'task.changed', data: { changes: { name: 'Cost', tags: ['a'] } } })
      .andAgainNothing();
    given(taskDecider, created).when(replace).thenNothing();
  });

  it('can take a field back to nothing', () => {
    const keyed: TaskEvent = { ...created, data: { ...created.data, spec: { ...spec, externalKey: 'k' } } };
    given(taskDecider, keyed)
      .when(replace)
      .then({ type: 'task.changed', data: { changes: { externalKey: null } } })
      .andAgainNothing();
  });

  it('is paused and resumed in an event apart from its changes', () => {
    given(taskDecider, created)
      .when({ ...replace, status: 'paused' })
      .then({ type: 'task.paused', data: {} })
      .andAgainNothing();
    given(taskDecider, created, { type: 'task.paused', data: {} })
      .when({ ...replace, spec: { ...spec, name: 'Cost' } })
      .then({ type: 'task.changed', data: { changes: { name: 'Cost' } } }, { type: 'task.resumed', data: {} });
  });

  it('disables an action once, with the reason', () => {
    given(taskDecider, created)
      .when({ type: 'disableAction', taskId, actionId, reason: 'gone', deliveryId, actor })
      .then({ type: 'task.action_disabled', data: { actionId, reason: 'gone' } })
      .andAgainNothing();
    given(taskDecider, created)
      .when({ type: 'disableAction', taskId, actionId: `${actionId.slice(0, -1)}9`, reason: 'gone', deliveryId, actor })
      .thenNothing();
  });

  it('is gone once archived, and unknown before it is created', () => {
    given(taskDecider, created).when({ type: 'archiveTask', taskId, expectedRevision: null, actor }).then(archived);
    given(taskDecider, created, archived).when(replace).thenRejected('not_found');
    given(taskDecider).when(replace).thenRejected('not_found');
    given(taskDecider, created, archived)
      .when({ type: 'createTask', taskId, spec, status: 'active', actor })
      .thenNothing();
  });
});
